// The extension module `uqassay._kernels`. Python code reaches it through `uqassay.native` alone.
#include "kernels.h"

NB_MODULE(_kernels, m) {
    m.doc() = "Compiled twins of array formulas of uqassay.";
    m.attr("interface") = UQASSAY_INTERFACE;
    bind_sorting(m);
    bind_mixture_errors(m);
    bind_bin_errors(m);
    bind_concordance(m);
    bind_envelope(m);
    bind_moebius(m);
    bind_pivots(m);
    bind_prefixes(m);
    bind_box_entropy(m);
    bind_decompositions(m);
    bind_labels(m);
    bind_orders(m);
    bind_pairs(m);
    bind_summation(m);
    bind_votes(m);
    bind_yardsticks(m);
}
