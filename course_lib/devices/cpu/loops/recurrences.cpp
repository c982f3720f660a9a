// Linear recurrences, step after step: a state of D x E numbers stays in the first-level cache, so on a processor the recurrent form
// is the fast one. Threads share the heads. What each recurrence computes: devices/reference/recurrences.py.
//
// The backward needs the state before every step, from the last to the first. Kept are those before every SEGMENT steps; the others
// are computed again, segment by segment.
#include "numbers.h"
#include "threads.h"
#include <type_traits>

enum Kind { LINEAR, DELTA, STATE_SPACE };
constexpr long SEGMENT = 16;  // compiled_recurrences.py knows it too

// Of one head: arrays with T rows, of D, E or 1 numbers. rate: beta of the delta rule, gamma of the state space.
template <class R> struct Head {
    const R *q, *k, *v, *g, *rate, *weight, *dy;
    R *y, *dq, *dk, *dv, *dg, *drate, *dweight;
};

template <Kind KIND, class R> static void decays(const R *g, R *decay, long t, long D) {
    for (long d = 0; d < D; d++) decay[d] = fast_exp(KIND == STATE_SPACE ? g[t] : g[t * D + d]);
}

template <class R> static R dot(const R *a, const R *b, long n) {
    R total = 0;
    for (long i = 0; i < n; i++) total += a[i] * b[i];
    return total;
}

// S is decayed; error (E) of the delta rule: what v differs by from what is stored under k.
template <Kind KIND, class R, class Width>
static void decay_state(const Head<R> &head, long t, R *__restrict S, R *__restrict error, const R *decay, long D, Width E) {
    const R *k = head.k + t * D, *v = head.v + t * E;
    if (KIND == DELTA)
        for (long e = 0; e < E; e++) error[e] = v[e];
    for (long d = 0; d < D; d++) {
        R *__restrict row = S + d * E;
        for (long e = 0; e < E; e++) row[e] *= decay[d];
        if (KIND == DELTA)
            for (long e = 0; e < E; e++) error[e] -= k[d] * row[e];
    }
}

// What step t adds to row d of the state is k[d] times this (E).
template <Kind KIND, class R, class Width>
static void written(const Head<R> &head, long t, const R *error, R *__restrict w, Width E) {
    const R *v = head.v + t * E;
    for (long e = 0; e < E; e++)
        w[e] = KIND == DELTA ? head.rate[t] * error[e] : KIND == STATE_SPACE ? head.weight[t] * v[e] : v[e];
}

template <Kind KIND, class R, class Width>
static void forward(const Head<R> &head, R *S, R *kept, long T, long D, Width E) {
    std::vector<R> error(E), w(E), decay(D);
    for (long t = 0; t < T; t++) {
        if (t % SEGMENT == 0) std::memcpy(kept + t / SEGMENT * D * E, S, D * E * sizeof(R));
        const R *q = head.q + t * D, *k = head.k + t * D;
        R *__restrict y = head.y + t * E;
        decays<KIND>(head.g, decay.data(), t, D);
        if (KIND != LINEAR) decay_state<KIND>(head, t, S, error.data(), decay.data(), D, E);
        written<KIND>(head, t, error.data(), w.data(), E);
        const R now = KIND == STATE_SPACE ? head.rate[t] * dot(q, k, D) : 0;
        for (long e = 0; e < E; e++) y[e] = KIND == STATE_SPACE ? now * head.v[t * E + e] : 0;
        for (long d = 0; d < D; d++) {
            R *__restrict row = S + d * E;
            const R *__restrict add = w.data();
            if (KIND == STATE_SPACE)
                for (long e = 0; e < E; e++) y[e] += q[d] * row[e];
            for (long e = 0; e < E; e++) row[e] = (KIND == LINEAR ? decay[d] * row[e] : row[e]) + k[d] * add[e];
            if (KIND != STATE_SPACE)
                for (long e = 0; e < E; e++) y[e] += q[d] * row[e];
        }
    }
}

// Step t backwards. decayed (D, E): the state after its decay, before the step wrote; dS: of the state after the step. All that is
// done with a row of the state is one loop: it is read from the cache once, and compilers vectorise it.
template <Kind KIND, class R, class Width>
static void step_back(const Head<R> &head, long t, const R *decayed, const R *error, R *dS, R *__restrict w, R *__restrict dw,
                      const R *decay, long D, Width E) {
    const R *q = head.q + t * D, *k = head.k + t * D, *v = head.v + t * E, *__restrict dy = head.dy + t * E;
    R *dq = head.dq + t * D, *dk = head.dk + t * D, *__restrict dv = head.dv + t * E;
    written<KIND>(head, t, error, w, E);
    for (long e = 0; e < E; e++) dw[e] = 0;
    const R w_dy = dot(w, dy, E), v_dy = dot(v, dy, E), q_k = dot(q, k, D);
    const R now = KIND == STATE_SPACE ? head.rate[t] : 0;  // the state space reads beside the state, not from it, what t writes
    for (long d = 0; d < D; d++) {
        const R *__restrict from = decayed + d * E;
        R *__restrict row = dS + d * E;
        R read = 0, write = 0;
        for (long e = 0; e < E; e++) {
            const R after = KIND == STATE_SPACE ? row[e] : row[e] + q[d] * dy[e];
            read += from[e] * dy[e];
            write += after * w[e];
            dw[e] += k[d] * after;
            row[e] = KIND == STATE_SPACE ? after + q[d] * dy[e] : after;
        }
        dq[d] = read + k[d] * (KIND == STATE_SPACE ? now * v_dy : w_dy);
        dk[d] = write + now * q[d] * v_dy;
    }
    const R scale = KIND == DELTA ? head.rate[t] : KIND == STATE_SPACE ? head.weight[t] : 1;
    for (long e = 0; e < E; e++) dv[e] = scale * dw[e] + now * q_k * dy[e];
    if (KIND == DELTA) head.drate[t] = dot(dw, error, E);
    if (KIND == STATE_SPACE) head.drate[t] = q_k * v_dy, head.dweight[t] = dot(dw, v, E);
    R dg = 0;
    for (long d = 0; d < D; d++) {
        const R *__restrict from = decayed + d * E;
        R *__restrict row = dS + d * E;
        R of_error = 0, of_decay = 0;
        for (long e = 0; e < E; e++) {
            const R before = KIND == DELTA ? row[e] - k[d] * dv[e] : row[e];
            if (KIND == DELTA) of_error += from[e] * dv[e];
            of_decay += before * from[e];
            row[e] = before * decay[d];
        }
        if (KIND == DELTA) dk[d] -= of_error;
        if (KIND == STATE_SPACE)
            dg += of_decay;
        else
            head.dg[t * D + d] = of_decay;
    }
    if (KIND == STATE_SPACE) head.dg[t] = dg;
}

template <Kind KIND, class R, class Width>
static void backward(const Head<R> &head, const R *kept, R *dS, long T, long D, Width E) {
    std::vector<R> S(D * E), states(SEGMENT * D * E), errors(SEGMENT * E), all_decays(SEGMENT * D), w(E), dw(E);
    for (long start = (T - 1) / SEGMENT * SEGMENT; start >= 0; start -= SEGMENT) {
        const long stop = start + SEGMENT < T ? start + SEGMENT : T;
        std::memcpy(S.data(), kept + start / SEGMENT * D * E, D * E * sizeof(R));
        for (long t = start; t < stop; t++) {
            R *error = &errors[(t - start) * E], *decay = &all_decays[(t - start) * D];
            decays<KIND>(head.g, decay, t, D);
            decay_state<KIND>(head, t, S.data(), error, decay, D, E);
            std::memcpy(&states[(t - start) * D * E], S.data(), D * E * sizeof(R));
            written<KIND>(head, t, error, w.data(), E);
            for (long d = 0; d < D; d++)
                for (long e = 0; e < E; e++) S[d * E + e] += head.k[t * D + d] * w[e];
        }
        for (long t = stop - 1; t >= start; t--)
            step_back<KIND>(head, t, &states[(t - start) * D * E], &errors[(t - start) * E], dS, w.data(), dw.data(),
                            &all_decays[(t - start) * D], D, E);
    }
}

// A width of 64 is known to the compiler: then a row is four vectors of 64 bytes, without a loop.
template <class Body> static void with_width(long E, Body body) {
    if (E == 64)
        body(std::integral_constant<long, 64>());
    else
        body(E);
}

template <class Body> static void with_kind(int kind, Body body) {
    if (kind == LINEAR)
        body(std::integral_constant<Kind, LINEAR>());
    else if (kind == DELTA)
        body(std::integral_constant<Kind, DELTA>());
    else
        body(std::integral_constant<Kind, STATE_SPACE>());
}

// q, k (heads, T, D), v, y (heads, T, E), g (heads, T, D), of the state space (heads, T) like rate and weight; state (heads, D, E)
// is changed to the last one; kept (heads, ceil(T / SEGMENT), D, E).
extern "C" void recurrence_forward(int wide, int kind, const void *q, const void *k, const void *v, const void *g, const void *rate,
                                   const void *weight, void *state, void *y, void *kept, long heads, long T, long D, long E) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        with_kind(kind, [=](auto chosen) {
            constexpr Kind KIND = decltype(chosen)::value;
            const long decays = KIND == STATE_SPACE ? 1 : D, segments = pieces_of(T, SEGMENT);
            parallel_for(heads, [=](long h) {
                Head<R> head{};
                head.q = (const R *)q + h * T * D, head.k = (const R *)k + h * T * D, head.v = (const R *)v + h * T * E;
                head.g = (const R *)g + h * T * decays, head.y = (R *)y + h * T * E;
                if (rate) head.rate = (const R *)rate + h * T;
                if (weight) head.weight = (const R *)weight + h * T;
                with_width(E, [&](auto width) {
                    forward<KIND>(head, (R *)state + h * D * E, (R *)kept + h * segments * D * E, T, D, width);
                });
            });
        });
    });
}

// The gradients of all that, from dy and from dstate, that of the last state, which becomes the first state's.
extern "C" void recurrence_backward(int wide, int kind, const void *dy, const void *q, const void *k, const void *v, const void *g,
                                    const void *rate, const void *weight, const void *kept, void *dstate, void *dq, void *dk,
                                    void *dv, void *dg, void *drate, void *dweight, long heads, long T, long D, long E) {
    with_type(wide, [=](auto r) {
        using R = decltype(r);
        with_kind(kind, [=](auto chosen) {
            constexpr Kind KIND = decltype(chosen)::value;
            const long decays = KIND == STATE_SPACE ? 1 : D, segments = pieces_of(T, SEGMENT);
            parallel_for(heads, [=](long h) {
                Head<R> head{};
                head.q = (const R *)q + h * T * D, head.k = (const R *)k + h * T * D, head.v = (const R *)v + h * T * E;
                head.g = (const R *)g + h * T * decays, head.dy = (const R *)dy + h * T * E;
                head.dq = (R *)dq + h * T * D, head.dk = (R *)dk + h * T * D, head.dv = (R *)dv + h * T * E;
                head.dg = (R *)dg + h * T * decays;
                if (rate) head.rate = (const R *)rate + h * T, head.drate = (R *)drate + h * T;
                if (weight) head.weight = (const R *)weight + h * T, head.dweight = (R *)dweight + h * T;
                with_width(E, [&](auto width) {
                    backward<KIND>(head, (const R *)kept + h * segments * D * E, (R *)dstate + h * D * E, T, D, width);
                });
            });
        });
    });
}
