// Calibration errors in equally wide bins, each set of probabilities with one draw of labels: the twin of
// PrepareCalibrationError.values in metrics/calibration/binned_error.py, bit for bit.
#include "mixtures.h"

#include <stdexcept>
#include <vector>

namespace {

using Index = std::int64_t;

struct Bins {
    const double *edges;  // inner edges of the bins (low, high]
    std::size_t count;    // B

    std::size_t of(double p) const {
        std::size_t bin = std::min(std::size_t(std::max(0.0, p * double(count))), count - 1);  // one off at most
        while (bin > 0 && !(p > edges[bin - 1])) --bin;
        while (bin + 1 < count && p > edges[bin]) ++bin;
        return bin;
    }
};

// Sum of the distances of expected from observed counts.
double distance(double *expected, const double *observed, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) expected[i] = std::fabs(expected[i] - observed[i]);
    return mixtures::row_sum(expected, size);
}

// Greatest probability of each instance, and its class as a number; the first of equal ones.
UQASSAY_CLONES void greatest_of(const double *probs, std::size_t n_classes, std::size_t n, double *__restrict top,
                                double *__restrict event) {
    std::copy_n(probs, n, top);
    std::fill_n(event, n, 0.0);
    for (std::size_t k = 1; k < n_classes; ++k) {
        const double *__restrict row = probs + k * n;
        for (std::size_t i = 0; i < n; ++i) event[i] = row[i] > top[i] ? double(k) : event[i];
        for (std::size_t i = 0; i < n; ++i) top[i] = row[i] > top[i] ? row[i] : top[i];
    }
}

// Memory for one set of probabilities.
struct Room {
    std::vector<double> row, event, expected, observed;
};

double of_confidence(const double *probs, const Index *labels, std::size_t n_classes, std::size_t n, const Bins &bins, Room &room) {
    room.row.resize(n);
    room.event.resize(n);
    room.expected.assign(bins.count, 0.0);
    room.observed.assign(bins.count, 0.0);
    greatest_of(probs, n_classes, n, room.row.data(), room.event.data());
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t bin = bins.of(room.row[i]);
        room.expected[bin] += room.row[i];
        room.observed[bin] += room.event[i] == double(labels[i]) ? 1.0 : 0.0;
    }
    return distance(room.expected.data(), room.observed.data(), bins.count) / double(n);
}

// The first bin of a class has the sum of the row without the other bins.
double of_classes(const double *probs, const Index *labels, std::size_t n_classes, std::size_t n, const Bins &bins, Room &room) {
    const std::size_t n_all = n_classes * bins.count;
    room.row.resize(n);
    room.expected.assign(n_all, 0.0);
    room.observed.assign(n_all, 0.0);
    for (std::size_t k = 0; k < n_classes; ++k) {
        double *expected = room.expected.data() + k * bins.count;
        for (std::size_t i = 0; i < n; ++i) {
            const double p = probs[k * n + i];
            const bool beyond = bins.count > 1 && p > bins.edges[0];
            if (beyond) expected[bins.of(p)] += p;
            room.row[i] = beyond ? 0.0 : p;
        }
        expected[0] = mixtures::row_sum(room.row.data(), n);
    }
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t k = std::size_t(labels[i]);
        room.observed[k * bins.count + bins.of(probs[k * n + i])] += 1.0;
    }
    return distance(room.expected.data(), room.observed.data(), n_all) / double(n_classes) / double(n);
}

Out<double, 1> bin_errors(In<double, 3> probs, In<Index, 2> labels, In<double, 1> edges, bool by_confidence) {
    const std::size_t n_sets = probs.shape(0), n_classes = probs.shape(1), n = probs.shape(2), n_draws = labels.shape(0);
    if (!n_classes || labels.shape(1) != n || (n_draws != 1 && n_draws != n_sets))
        throw std::invalid_argument("one draw of labels for all sets of probabilities, or one for each");
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels.data()[i] < 0 || std::size_t(labels.data()[i]) >= n_classes) throw std::invalid_argument("a label is not a class");
    const Bins bins{edges.data(), edges.shape(0) + 1};
    auto errors = raw<double>(n_sets);
    {
        nb::gil_scoped_release release;
        Room room;
        for (std::size_t d = 0; d < n_sets; ++d)
            errors[d] = (by_confidence ? of_confidence : of_classes)(probs.data() + d * n_classes * n,
                                                                     labels.data() + (n_draws == 1 ? 0 : d * n), n_classes, n, bins, room);
    }
    return to_array(std::move(errors), n_sets);
}

}  // namespace

void bind_bin_errors(nb::module_ &m) {
    using nb::arg;
    m.def("bin_errors", &bin_errors, arg("probs").noconvert(), arg("labels").noconvert(), arg("edges").noconvert(),
          arg("by_confidence"), "Confidence or classwise errors (D,) of probabilities (D, K, n) in equally wide bins.");
}
