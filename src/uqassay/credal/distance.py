"""The distance of a target, one-hot or soft, to the nearest point of a credal set, with a certified duality gap.

For a one-hot target every distance but Brier's depends on the probability of the true class alone, so the nearest point
is where that is largest and the distance is in closed form. A soft target (votes of annotators) is nearest to a point
that is no vertex in general: a convex problem per instance, all instances solved together, none seeing another.

Every result says how far it may be from the minimum. With f the convex objective (KL, JS divergence, total variation,
squared Hellinger, Brier), p the point found and ∇f its gradient there, convexity gives
    min f >= f(p) - gap,    gap = max over p' in the set of  -∇f(p)·(p' - p),
and for total variation min f >= max over the set's complement of events, in the form of a subgradient. Distances that are
square roots have sqrt(f) - sqrt(max(f - gap, 0)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr, xlog1py, xlogy

from uqassay.credal.hull import l1_projection
from uqassay.errors import InputError

__all__ = [
    "DISTANCES",
    "NearestPoint",
    "divergence",
    "nearest_in_box",
    "nearest_in_core",
    "nearest_in_hull",
    "one_hot_distance",
]

Floats = NDArray[np.float64]

DISTANCES = ("kl", "js", "js_distance", "tv", "hellinger", "brier")
ROOTS = ("js_distance", "hellinger")
CHUNK = 1 << 20  # numbers in the largest array of a chunk of instances
TIE = 1e-8  # probabilities closer than this count as equal in the certificate of total variation
LN2 = float(np.log(2.0))


@dataclass(frozen=True)
class NearestPoint:
    """The nearest point of each credal set."""

    distance: Floats  # (n,)
    point: Floats  # (n, K)
    gap: Floats  # (n,) in the distance's own units: the minimum lies in [distance - gap, distance]


def one_hot_distance(upper: ArrayLike, distance: str, *, floor: float = 0.0) -> Floats:
    u = np.minimum(np.asarray(upper, dtype=np.float64), 1.0)
    rest = 1.0 - u
    if distance == "kl":
        with np.errstate(divide="ignore"):
            return 0.0 - np.log(np.maximum(u, floor))
    if distance == "tv":
        return rest
    if distance == "hellinger":
        return np.sqrt(rest / (1.0 + np.sqrt(u)))
    js = 0.5 * (rest * LN2 - (1.0 + u) * np.log1p(-0.5 * rest) + xlog1py(u, -rest))
    return js if distance == "js" else np.sqrt(js)


def divergence(target: ArrayLike, probs: ArrayLike, distance: str, *, floor: float = 0.0) -> Floats:
    y = np.asarray(target, dtype=np.float64)
    p = np.asarray(probs, dtype=np.float64)
    if distance == "kl":
        p = np.maximum(p, floor)
    f = _objective(y, p, distance)
    return np.sqrt(f) if distance in ROOTS else f


def nearest_in_hull(target, points, distance, *, floor=0.0, tolerance=1e-6, max_iterations=200):
    y = np.ascontiguousarray(target, dtype=float)
    vertices = np.ascontiguousarray(points, dtype=float)
    n, n_points, k = vertices.shape
    point = np.empty_like(y)
    lower = np.empty(n)
    upper = vertices.max(axis=1)
    if distance == "tv":
        nearest = l1_projection(vertices, y)
        low = 0.5 * ((nearest.dual * y).sum(-1) - (vertices @ nearest.dual[..., None])[..., 0].max(-1))
        f = _objective(y, nearest.point, "tv")
        return NearestPoint(f, nearest.point, np.maximum(f - low, 0))
    seen = _seen(y, upper, distance, floor)
    rows_at_once = max(1, CHUNK // max(vertices[:1].size, n_points**2 + 0 * k))
    gap = np.empty(n)
    for i in range(0, n, rows_at_once):
        r = slice(i, i + rows_at_once)
        solver = _Hull(vertices[r], upper[r])
        point[r], gap[r] = _interior_point(solver, seen[r], upper[r], distance, tolerance, max_iterations)
    return _result(y, point, gap, upper, distance, floor)


def nearest_in_core(target, masses, focal_sets, distance, *, floor=0.0, tolerance=1e-6, max_iterations=200):
    y = np.ascontiguousarray(target, dtype=float)
    m = np.ascontiguousarray(masses, dtype=float)
    sets = np.asarray(focal_sets, bool)
    n, k = y.shape
    point = np.empty_like(y)
    gap = np.empty(n)
    upper = np.stack([m[:, sets[:, c]].sum(axis=-1) for c in range(k)], -1)
    seen = _seen(y, upper, distance, floor)
    rows_at_once = max(1, CHUNK // sets.size)
    for i in range(0, n, rows_at_once):
        r = slice(i, i + rows_at_once)
        solver = _Core(m[r], sets, upper[r])
        point[r], gap[r] = _interior_point(solver, seen[r], upper[r], distance, tolerance, max_iterations)
    return _result(y, point, gap, upper, distance, floor)


def _result(y, point, gap, upper, distance, floor):
    p = point
    if distance == "kl":
        p = np.where(upper > floor, point, floor)
    f = _objective(y, p, distance)
    gap = np.where(np.isfinite(f), gap, 0.0)
    if distance in ROOTS:
        gap = np.sqrt(f) - np.sqrt(np.maximum(f - gap, 0.0))
        f = np.sqrt(f)
    return NearestPoint(f, point, gap)


def _seen(y, upper, distance, floor):
    return np.where(upper > (floor if distance == "kl" else 0.0), y, 0.0) if distance != "brier" else y


def _objective(y: Floats, q: Floats, distance: str) -> Floats:
    """f, summed over the last axis."""
    if distance == "kl":
        return np.maximum(rel_entr(y, q).sum(axis=-1), 0.0)
    if distance in ("js", "js_distance"):
        total = y + q
        x = np.divide(y - q, total, out=np.zeros(total.shape), where=total > 0)
        return np.maximum((0.25 * total * (xlog1py(1.0 + x, x) + xlog1py(1.0 - x, -x))).sum(axis=-1), 0.0)
    if distance == "tv":
        return 0.5 * np.abs(y - q).sum(axis=-1)
    if distance == "hellinger":
        return 0.5 * ((np.sqrt(y) - np.sqrt(q)) ** 2).sum(axis=-1)
    return ((q - y) ** 2).sum(axis=-1)


def _slope(y, q, distance):
    """q ∇f (n, K)."""
    if distance in ("kl", "tv"):
        return -y
    if distance in ("js", "js_distance"):
        return 0.5 * xlogy(q, np.divide(2.0 * q, q + y, out=np.full(q.shape,2.), where=q+y > 0))
    if distance == "hellinger":
        return 0.5 * (q - np.sqrt(y * q))
    return 2.0 * (q - y) * q


def _curvature(y, q, distance):
    """q² ∇²f (n, K), diagonal"""
    if distance in ("kl", "tv"):
        return y
    if distance in ("js", "js_distance"):
        return 0.5 * q * np.divide(y, q + y, out=np.zeros(q.shape), where=q+y > 0)
    if distance == "hellinger":
        return 0.25 * np.sqrt(y * q)
    return 2.0 * q * q


class _Hull:
    def __init__(self, points, upper):
        scale = np.where(upper > 0, upper, 1.0)
        self.J = points / scale[:, None, :]   # (n, V, K)
        self.valid = np.ones((1, 1, points.shape[1]), bool)
        self.shape = (1, points.shape[1])

    def take(self, keep):
        new = object.__new__(_Hull)
        new.J = self.J[keep]; new.valid=self.valid; new.shape=self.shape
        return new

    def collect(self, x):
        return (x @ self.J)[:, 0, :]

    def costs(self, g):
        return (self.J @ g[..., None]).swapaxes(1, 2)

    def newton(self, x, z, h, c):
        x0, z0 = x[:, 0], z[:, 0]
        V, K = self.J.shape[1:]
        if V <= K:
            B = x0[..., None] * self.J
            S = (B * h[:, None, :]) @ B.swapaxes(1, 2)
            i = np.arange(V)
            S[:, i, i] += x0 * z0
            R = np.stack([-(x0 * c[:, 0]), np.ones_like(x0), x0], -1)
            sol = np.linalg.solve(S, R)   # (n,V,3)
            s1 = (x0[..., None] * sol).sum(1)  # x·sol
            a = x0 * (sol[..., 0] - sol[..., 2] * (s1[:, 0] / s1[:, 2])[:, None])
            b = x0 * (sol[..., 1] - sol[..., 2] * (s1[:, 1] / s1[:, 2])[:, None])
            return a[:, None], b[:, None]
        th = x0 / z0
        tp = th.sum(-1, keepdims=True)
        Jc = self.J - ((th / tp)[:, None, :] @ self.J)
        L = (Jc * th[..., None]).swapaxes(1, 2) @ Jc
        rh = np.sqrt(h)
        M = rh[:, :, None] * L * rh[:, None, :]
        i = np.arange(K)
        M[:, i, i] += 1
        out = []
        R = np.stack([-c[:, 0], 1 / x0], -1)
        R = R - (th[..., None] * R).sum(1, keepdims=True) / tp[..., None]
        b = (Jc * th[..., None]).swapaxes(1, 2) @ R   # n,K,2
        u = np.linalg.solve(M, rh[..., None] * b) * rh[..., None]
        d = th[..., None] * (R - Jc @ u)
        return d[..., 0][:, None], d[..., 1][:, None]


class _Core:
    def __init__(self, m, sets, upper):
        scale = np.where(upper > 0, upper, 1.0)
        self.valid = sets[None]
        self.J = np.where(sets, m[:, :, None] / scale[:, None, :], 0.0)
        self.shape = sets.shape

    def take(self, keep):
        new = object.__new__(_Core)
        new.J = self.J[keep]; new.valid=self.valid; new.shape=self.shape
        return new

    def collect(self, x):
        return (x * self.J).sum(1)

    def costs(self, g):
        return self.J * g[:, None, :]

    def newton(self, x, z, h, c):
        th = np.where(self.valid, x / z, 0)
        tp = th.sum(-1, keepdims=True)
        Jt = self.J * th
        L = -(Jt / tp).swapaxes(1, 2) @ Jt
        K = self.shape[1]
        i = np.arange(K)
        L[:, i, i] += (self.J * Jt).sum(1)
        rh = np.sqrt(h)
        M = rh[:, :, None] * L * rh[:, None, :]
        M[:, i, i] += 1
        r = [np.where(self.valid, -c, 0), np.where(self.valid, 1 / x, 0)]
        r = [a - (th * a).sum(-1, keepdims=True) / tp for a in r]
        b = np.stack([(Jt * a).sum(1) for a in r], -1)
        u = np.linalg.solve(M, rh[..., None] * b) * rh[..., None]
        out = []
        for j, a in enumerate(r):
            v = self.J * u[:, None, :, j]
            v = v - (th * v).sum(-1, keepdims=True) / tp
            out.append(th * (a - v))
        return out

CEN=100;LOG=[];BT=[];KAP=1e4
SIG=0.01
def _interior_point(solver, y, upper, distance, tolerance, max_iterations):
    n, k = y.shape
    valid = solver.valid
    x = np.broadcast_to(valid / valid.sum(-1, keepdims=True), (n, *solver.shape)).copy()
    point = np.empty((n, k)); gap = np.empty(n)
    live = np.arange(n)
    z = None; mt=np.full(n,np.inf)
    best = np.full(n, np.inf)
    U = upper
    size = valid.sum()
    for it in range(max_iterations):
        qh = solver.collect(x)
        q = qh * U
        ok = qh > 0
        inv = np.divide(1, qh, out=np.zeros_like(qh), where=ok)
        g = _slope(y, q, distance) * inv
        h = _curvature(y, q, distance) * inv**2
        c = solver.costs(g)
        cmin = np.where(valid, c, np.inf).min(-1, keepdims=True)
        gp = (x * np.where(valid, c - cmin, 0)).sum((-1, -2))
        f = _objective(y, q, distance)
        cv = (np.sqrt(f)-np.sqrt(np.maximum(f-gp,0)))  if distance in ROOTS else gp 
        go=cv> tolerance
        better = cv < best[live]
        best[live[better]] = cv[better]
        point[live[better]] = q[better]
        gap[live[better]] = gp[better]
        LOG.append((it, len(live), gp.max(), np.median(gp)))
        if z is None:
            z = np.where(valid, c - cmin, 0.) + np.maximum(gp / size, 1e-300)[:, None, None]* solver.shape[1]
        if not go.any():
            break
        if not go.all():
            live, y, U, x, z, h, c = live[go], y[go], U[go], x[go], z[go], h[go], c[go]
            solver = solver.take(go)
        a, b = solver.newton(x, z, h, c)
        zx = np.where(valid, z / np.where(valid,x,1), 0)
        mu = np.where(valid,x * z,0).sum((-1, -2)) / size
        ap = _step(x, a, valid); dz = -z - zx * a; ad = _step(z, dz, valid)
        mua = np.where(valid,(x + ap * a) * (z + ad * dz),0).sum((-1, -2)) / size
        new = np.maximum((mua / mu) ** 3 * mu, SIG*gp[go]/size)
        mt = mt[go] if len(mt)!=len(new) else mt
        mt = np.where(gp[go] > CEN * size * mt, mt, np.minimum(new, mt))
        sm = mt[:, None, None]
        dx = a + sm * b
        dz = np.where(valid, sm / np.where(valid,x,1),0) - z - zx * dx
        ap = 0.99*_step(x, dx, valid) ; ad = 0.99*_step(z, dz, valid)
        ap = np.minimum(ap, 1)
        sl = np.where(valid, c - np.where(valid, sm / np.where(valid, x, 1), 0), 0)
        der = (sl * dx).sum((-1, -2))
        f0 = f[go]
        active = np.arange(len(x))
        for bt in range(30):
            xn = x[active] + ap[active] * dx[active]
            fn = _objective(y[active], solver.take(active).collect(xn) * U[active], distance)
            lg = np.where(valid, np.log1p(np.where(valid, ap[active] * dx[active] / np.where(valid, x[active], 1), 0)), 0).sum((-1, -2))
            df = fn - f0[active] - sm[active, 0, 0] * lg
            bad = df > 1e-4 * ap[active, 0, 0] * der[active] + 1e-13*(1+abs(f0[active]))
            active = active[bad]
            if not len(active): break
            ap[active] *= 0.5
        BT.append(bt)
        x = x + np.minimum(ap,1) * dx
        z = z + np.minimum(ad,1) * dz
        zc = np.where(valid, sm / np.where(valid, x, 1), 1.)
        z = np.where(valid, np.clip(z, zc / KAP, zc * KAP), 0)
        x = np.where(valid, x, 0); x /= x.sum(-1, keepdims=True)
    return point, gap

def _step(x, dx, valid):
    r = np.where(valid & (dx < 0), x / np.where(dx < 0, -dx, 1), np.inf)
    return np.minimum(r.min((-1, -2)), 1.0/0.99)[:, None, None]


def nearest_in_box(target, lower, upper, distance, *, floor=0.0):
    y = np.ascontiguousarray(target, dtype=np.float64)
    l, u = np.ascontiguousarray(lower, dtype=np.float64), np.ascontiguousarray(upper, dtype=np.float64)
    u = np.clip(u, 0.0, 1.0)
    l = np.clip(l, 0.0, u)
    seen = _seen(y, u, distance, floor)
    weight, offset = (np.ones_like(y), y) if distance == "brier" else (seen, np.zeros_like(y))
    point = _fill_box(weight, offset, l, u)
    g = _uphill(y if distance == "tv" else seen, point, distance)
    order = np.argsort(-g, axis=-1, kind="stable")
    room = np.take_along_axis(u - l, order, axis=-1)
    left = np.maximum(1.0 - l.sum(axis=-1, keepdims=True), 0.0)
    poured = np.clip(left - (np.cumsum(room, axis=-1) - room), 0.0, room)
    best = (g * l).sum(axis=-1) + (np.take_along_axis(g, order, axis=-1) * poured).sum(axis=-1)
    gap = np.maximum(best - (g * point).sum(-1), 0)
    return _result(y, point, gap, u, distance, floor)


def _uphill(y, p, distance):
    if distance == "tv":
        return 0.5 * np.where(np.abs(y - p) <= TIE, 0.0, np.sign(y - p))
    return -np.divide(_slope(y, p, distance), p, out=np.zeros(p.shape), where=p > 0)


def _fill_box(w, o, l, u):
    """p = clip(o + w s, l, u) with sum 1"""
    n, k = w.shape
    positive = w > 0
    safe = np.where(positive, w, 1.0)
    with np.errstate(over="ignore"):
        start = np.where(positive, np.minimum((l - o) / safe, 1e300), 0.0)
        stop = np.where(positive, np.minimum((u - o) / safe, 1e300), 0.0)
    knots = np.sort(np.concatenate([start, stop], axis=-1), axis=-1)

    def level(s):
        return np.clip(o + w * s[:, None], l, u)

    low, high = np.zeros(n, dtype=np.int64), np.full(n, 2 * k - 1)
    rows = np.arange(n)
    for _ in range(int(2 * k).bit_length()):
        middle = (low + high) // 2
        below = level(knots[rows, middle]).sum(axis=-1) <= 1.0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    a, b = knots[rows, low], knots[rows, high]
    free = positive & (start <= a[:, None]) & (stop >= b[:, None]) & (b > a)[:, None]
    fixed = np.where(free, o, level(a)).sum(axis=-1)
    slope = np.where(free, w, 0.0).sum(axis=-1)
    s = np.divide(1.0 - fixed, slope, out=a.copy(), where=slope > 0)
    p = level(np.where(level(b).sum(-1) < 1.0, b, np.clip(s, a, b)))
    left = np.maximum(1.0 - p.sum(axis=-1, keepdims=True), 0.0)
    room = np.where(positive, 0.0, u - p)
    total = room.sum(axis=-1, keepdims=True)
    return p + room * np.minimum(np.divide(left, total, out=np.zeros_like(left), where=total > 0), 1.0)
