"""Gaussian-process classifiers: nearness to the exact posterior, coverage of latent intervals, and time.

Run: python benchmarks/bench_gaussian_processes.py [nearness|coverage|steps|classes|inducing …]   (by default all, 20 minutes)

nearness   10 data sets of 50 instances in two dimensions, drawn from the model; the kernel is known. Exact probabilities at 100
           new points come from elliptical slice sampling. The table has the greatest and the mean absolute difference of the
           probabilities of each approximation, averaged over data sets. The row "(other half)" compares both halves of the
           exact sample; the error of their mean is about half of that.
coverage   100 draws of a latent function at 200 training and 100 new points, labels drawn from it, kernel known. Share of new
           points whose latent value lies within the 90 % interval, with the standard error over draws, by kernel and number of
           inducing points.
steps      CPU seconds of one training step on a batch of 1,024 of the 142,693 instances of the toy data, and of one pass over
           all of them by all inducing points, which is timed on a part; on one thread.
classes    Greatest and mean error of the mean probabilities and of the mutual information of three and ten classes, over 60
           random rows of latent Gaussians with s² up to 9, by number of points; against 2^17 other quasi-random points. Beside
           it as many independent draws for each row, which "softmax" had before.
inducing   Accuracy, log loss, mean mutual information, bound and time on a quarter of the toy grid of the paper on epistemic
gain, 437 clusters,
           at its density (25,673 training and 10,000 test instances): how many inducing points, and what is learnt.
"""

import os
import sys
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from scipy.special import expit, log_expit, ndtri, softmax
from scipy.stats import qmc

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import torch
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from uqassay.lab.datasets import cluster_grid
from uqassay.lab.methods import LocalGaussianProcess, SparseGaussianProcess
from uqassay.lab.methods.gaussian_process import latent_prediction
from uqassay.lab.methods.sparse_latent import SparseLatent
from uqassay.lab.methods.sparse_training import SparseSchedule, train_latent
from uqassay.measures import entropy_decomposition

torch.set_num_threads(1)
KERNELS = ((0.5, 1.0), (0.5, 4.0), (1.0, 4.0), (1.0, 25.0))  # length scale and signal variance
FIXED = {"standardise": False, "learn_kernel": False, "learn_inducing": False, "epochs": 1, "final_passes": 100}


def rbf(a: np.ndarray, b: np.ndarray, lengthscale: float, variance: float) -> np.ndarray:
    return variance * np.exp(-0.5 * ((a[:, None] - b) ** 2).sum(axis=2) / lengthscale**2)


def drawn(seed: int, n: int, n_new: int, lengthscale: float, variance: float):
    """Instances, labels and latent values of the model; the last n_new are new."""
    g = np.random.default_rng(seed)
    x = g.uniform(-2, 2, size=(n + n_new, 2))
    latent = np.linalg.cholesky(rbf(x, x, lengthscale, variance) + 1e-8 * np.eye(n + n_new)) @ g.normal(size=n + n_new)
    y = (g.random(n + n_new) < expit(latent)).astype(int)
    return x, y, latent


def exact(x, y, new, lengthscale, variance, *, seed=0, n_kept=3000, n_first=500, n_chains=64) -> np.ndarray:
    """P(y* = 1) from both halves of an elliptical slice sample (Murray et al., 2010), ``(2, n_new)``."""
    g = np.random.default_rng(seed)
    k = rbf(x, x, lengthscale, variance) + 1e-8 * np.eye(len(x))
    root, sign = np.linalg.cholesky(k), 2 * y - 1

    def log_likelihood(f: np.ndarray) -> np.ndarray:
        return -np.logaddexp(0, -sign * f).sum(axis=1)

    f = g.normal(size=(n_chains, len(x))) @ root.T
    between = np.linalg.solve(k, rbf(x, new, lengthscale, variance))
    deviation = np.sqrt(np.maximum(variance - (rbf(x, new, lengthscale, variance) * between).sum(axis=0), 0))
    nodes, shares = np.polynomial.hermite_e.hermegauss(15)
    total = np.zeros((2, len(new)))
    for step in range(n_first + n_kept):
        nu = g.normal(size=f.shape) @ root.T
        height = log_likelihood(f) + np.log(g.random(n_chains))
        angle = g.uniform(0, 2 * np.pi, n_chains)
        low, high = angle - 2 * np.pi, angle.copy()
        moved = f.copy()
        open_chains = np.arange(n_chains)
        while len(open_chains):
            at = angle[open_chains, None]
            moved[open_chains] = proposed = f[open_chains] * np.cos(at) + nu[open_chains] * np.sin(at)
            open_chains = open_chains[log_likelihood(proposed) < height[open_chains]]
            below = angle[open_chains] < 0
            low[open_chains[below]], high[open_chains[~below]] = angle[open_chains[below]], angle[open_chains[~below]]
            angle[open_chains] = g.uniform(low[open_chains], high[open_chains])
        f = moved
        if step >= n_first and step % 10 == 0:
            probs = sum(w * expit(f @ between + deviation * z) for z, w in zip(nodes, shares, strict=True))
            halves = probs.reshape(2, n_chains // 2, -1).mean(axis=1) / shares.sum()
            total += halves
    return total / (n_kept // 10)


def nearness() -> None:
    print("difference from the exact probabilities, greatest and mean, by length scale and signal variance")
    for lengthscale, variance in KERNELS:
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(10):
            x, y, _ = drawn(seed, 50, 100, lengthscale, variance)
            if len(np.unique(y[:50])) < 2:
                continue
            x, y, new = x[:50], y[:50], x[50:]
            halves = exact(x, y, new, lengthscale, variance, seed=seed)
            kernel = ConstantKernel(variance) * RBF(lengthscale)
            options = {"lengthscale": lengthscale, "signal_variance": variance}
            said = {
                "Laplace (scikit-learn)": GaussianProcessClassifier(kernel, optimizer=None).fit(x, y),
                "sparse, 50 inducing": SparseGaussianProcess(**options, **FIXED).fit(x, y),
                "sparse, 20 inducing": SparseGaussianProcess(
                    n_inducing=20, **options, **(FIXED | {"learn_inducing": True, "epochs": 100})
                ).fit(x, y),
                "local": LocalGaussianProcess(**options).fit(x, y),
            }
            probs = {name: one.predict_proba(new)[:, 1] for name, one in said.items()}
            for name, p in probs.items():
                difference = np.abs(p - halves.mean(axis=0))
                found.setdefault(name, []).append((difference.max(), difference.mean()))
            difference = np.abs(halves[0] - halves[1])
            found.setdefault("(other half)", []).append((difference.max(), difference.mean()))
        for name, rows in found.items():
            print(f"{lengthscale:4g} {variance:4g}  {name:24s}" + "".join(f"{v:9.4f}" for v in np.mean(rows, axis=0)))


def coverage(n_draws: int = 100) -> None:
    print("\ncoverage of 90 % intervals of the latent value: length scale, signal variance, inducing points, local")
    for lengthscale, variance in KERNELS:
        options = {"lengthscale": lengthscale, "signal_variance": variance}
        methods = {
            "200": SparseGaussianProcess(**options, **(FIXED | {"final_passes": 30})),
            "50": SparseGaussianProcess(
                n_inducing=50, **options, **(FIXED | {"final_passes": 30, "learn_inducing": True, "epochs": 50})
            ),
            "local": LocalGaussianProcess(**options),
        }
        inside: dict[str, list[float]] = {name: [] for name in methods}
        for seed in range(n_draws):
            x, y, latent = drawn(seed, 200, 100, lengthscale, variance)
            if len(np.unique(y[:200])) < 2:
                continue
            for name, method in methods.items():
                mean, spread = method.fit(x[:200], y[:200]).latent(x[200:])
                inside[name].append(np.mean(np.abs(latent[200:] - mean[:, 0]) < 1.6448536 * np.sqrt(spread[:, 0])))
        for name, shares in inside.items():
            error = np.std(shares, ddof=1) / np.sqrt(len(shares))
            print(
                f"{lengthscale:4g} {variance:4g} {name:>6s}  {np.mean(shares):.3f} ± {error:.3f}   ({len(shares)} draws)"
            )


def steps() -> None:
    print("\nCPU seconds of a step and of a pass over all 142,693 instances, one thread")
    toy = cluster_grid(spread=0.35, rng=0)
    rng = np.random.default_rng(0)
    for m in (500, 2000):
        for dtype in (torch.float64, torch.float32):
            points = torch.from_numpy(toy.X[rng.choice(len(toy.X), m, replace=False)]).to(dtype)
            torch.set_flush_denormal(dtype == torch.float32)  # as in `SparseGaussianProcess.fit`
            latent = SparseLatent(points, torch.tensor([1.0]), 4.0)
            n_steps = 5
            part = rng.choice(len(toy.X), 1024 * n_steps, replace=False)
            x, kappa = torch.from_numpy(toy.X[part]).to(dtype), torch.from_numpy(toy.y[part] - 0.5).to(dtype)
            schedule = SparseSchedule(1, 1024, 0.02, 0.1, 1, True, True)
            begun: list[float] = [time.process_time()]
            train_latent(
                latent,
                x,
                kappa,
                schedule,
                seed=np.random.SeedSequence(0),
                show=lambda begun=begun: begun.append(time.process_time()),
            )
            each = np.median(np.diff(begun)[:n_steps])
            start = time.process_time()
            latent.full_pass(x.double(), kappa.double())
            whole = (time.process_time() - start) / len(x) * len(toy.X)
            print(f"{m:5d} inducing points, {str(dtype)[6:]:8s} step {each:6.2f} s   pass {whole:6.1f} s")


def entropy(p: np.ndarray) -> np.ndarray:
    return -(p * np.log(np.maximum(p, 1e-300))).sum(axis=-1)


def classes() -> None:
    print(
        "\nerror of probabilities and of the mutual information, greatest and mean; in brackets of as many draws for each row"
    )
    for kind, weight in (("softmax", lambda z: z), ("one-versus-rest", log_expit)):
        for k in (3, 10):
            g = np.random.default_rng(1)
            mean, variance = 2 * g.normal(size=(60, k)), 9 * g.random((60, k))
            deviation = np.sqrt(variance)
            z = ndtri(np.clip(qmc.Sobol(k, seed=5).random_base2(17), 1e-12, 1 - 1e-12))
            probs, information = np.empty((60, k)), np.empty(60)
            for row in range(60):
                p = softmax(weight(mean[row] + deviation[row] * z), axis=1)
                probs[row], information[row] = p.mean(axis=0), entropy(p.mean(axis=0)) - entropy(p).mean()
            for n in (128, 512):
                ours = latent_prediction(mean, variance, multiclass=kind, n_draws=n).hull_points()
                drawn = softmax(weight(mean[:, None] + deviation[:, None] * g.normal(size=(60, n, k))), axis=2)
                found = []
                for points in (ours, drawn):
                    error = np.abs(points.mean(axis=1) - probs)
                    doubt = np.abs(entropy(points.mean(axis=1)) - entropy(points).mean(axis=1) - information)
                    found.append("".join(f"{v:8.4f}" for v in (error.max(), error.mean(), doubt.max(), doubt.mean())))
                print(f"{kind:16s} {k:3d} classes {n:4d} points {found[0]}   ({found[1]} )", flush=True)


def inducing() -> None:
    toy = cluster_grid(35_673, spread=0.35, columns=19, rows=23, rng=0)
    x, y, new, truth = toy.X[:25_673], toy.y[:25_673], toy.X[25_673:], toy.y[25_673:]
    print(f"\na quarter of the toy grid; best possible accuracy {toy.probs[25_673:].max(axis=1).mean():.4f}")
    fixed = {"epochs": 0, "learn_kernel": False, "learn_inducing": False}
    rows: list[tuple[str, LocalGaussianProcess | SparseGaussianProcess]] = [("local", LocalGaussianProcess())]
    for m, lengthscale, variance, passes in (
        (500, 0.5, 4.0, 40),
        (500, 0.65, 16.0, 40),
        (500, 0.8, 4.0, 40),
        (750, 0.6, 9.0, 10),
        (1000, 0.6, 9.0, 10),
        (1000, 0.8, 9.0, 10),
    ):
        options = {"n_inducing": m, "lengthscale": lengthscale, "signal_variance": variance, "final_passes": passes}
        method = SparseGaussianProcess(standardise=False, progress=False, **options, **fixed)
        rows.append((f"{m} fixed, length {lengthscale}, variance {variance:g}, {passes} passes", method))
    for m, epochs in ((500, 5), (500, 20)):
        method = SparseGaussianProcess(standardise=False, progress=False, n_inducing=m, epochs=epochs)
        rows.append((f"{m} all learnt, {epochs} epochs, 5 passes", method))
    for name, method in rows:
        start = time.process_time()
        said = method.fit(x, y).predict_uncertainty(new)
        took = time.process_time() - start
        p = said.mean_probs()
        loss = -np.log(p[np.arange(len(p)), truth]).mean()
        information = entropy_decomposition(said).epistemic.mean()
        text = f"{name:48s} accuracy {(p.argmax(axis=1) == truth).mean():.4f}, log loss {loss:.4f}, "
        text += f"mutual information {information:.4f}, {took:5.1f} s"
        if isinstance(method, SparseGaussianProcess):
            kernel = method.latents_[0].covar_module
            text += f", bound {method.training_[0].bounds[-1]:.0f}, length {kernel.base_kernel.lengthscale.item():.2f}"
            text += f", variance {kernel.outputscale.item():.1f}"
        print(text, flush=True)


if __name__ == "__main__":
    parts = {"nearness": nearness, "coverage": coverage, "steps": steps, "classes": classes, "inducing": inducing}
    for name in sys.argv[1:] or parts:
        parts[name]()
