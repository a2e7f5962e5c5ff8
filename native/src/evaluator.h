// An error of mixtures for one draw of labels at a time: the form in which searches and `values` use every kind of evaluator.
#pragma once

#include "predicted.h"

#include <nanobind/stl/unique_ptr.h>

#include <memory>

namespace mixtures {

// Memory and labels of one thread.
class Valuer {
  public:
    virtual ~Valuer() = default;
    virtual void take(const Index *labels) = 0;                                         // (n,)
    virtual void values(const double *weights, std::size_t count, double *out) = 0;     // weights (count, M)
};

class Evaluator {
  public:
    virtual ~Evaluator() = default;
    virtual std::size_t n_instances() const = 0;
    virtual std::size_t n_members() const = 0;
    virtual std::unique_ptr<Valuer> valuer() const = 0;
};

// Computes a block of LANES mixtures with weights (M, LANES) in precision T, and in double precision.
template <class T, class Data>
using Block = void (*)(const Data &data, const T *weights, const double *exact, Space<T> &space, double *out);

template <class T, class Data>
class ValuerOf final : public Valuer {
  public:
    ValuerOf(const Data &data, Block<T, Data> block)
        : data_(data), block_(block), weights_(data.n_members() * LANES), exact_(data.n_members() * LANES) {}

    void take(const Index *labels) override { data_.new_labels(labels, space_); }

    void values(const double *weights, std::size_t count, double *out) override {
        double found[LANES];
        for (std::size_t i = 0; i < count; i += LANES) {
            const std::size_t stop = std::min(i + LANES, count);
            side_by_side(weights, data_.n_members(), i, stop, exact_.data());
            std::copy(exact_.begin(), exact_.end(), weights_.begin());
            block_(data_, weights_.data(), exact_.data(), space_, found);  // the last block repeats its last mixture
            std::copy(found, found + (stop - i), out + i);
        }
    }

  private:
    const Data &data_;
    const Block<T, Data> block_;
    Space<T> space_;
    Buffer<T> weights_;
    Buffer<double> exact_;
};

template <class T, class Data>
class EvaluatorOf final : public Evaluator {
  public:
    EvaluatorOf(std::unique_ptr<Data> data, Block<T, Data> block) : data_(std::move(data)), block_(block) {}
    std::size_t n_instances() const override { return data_->n_instances(); }
    std::size_t n_members() const override { return data_->n_members(); }
    std::unique_ptr<Valuer> valuer() const override { return std::make_unique<ValuerOf<T, Data>>(*data_, block_); }

  private:
    std::unique_ptr<Data> data_;
    const Block<T, Data> block_;
};

template <class T, class Data>
std::unique_ptr<Evaluator> evaluator(std::unique_ptr<Data> data, Block<T, Data> block) {
    return std::make_unique<EvaluatorOf<T, Data>>(std::move(data), block);
}

}  // namespace mixtures
