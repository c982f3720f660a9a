// Sums and maxima of one type T. A nan reaches the result.
//
// Constants: T, the type of the elements; MAX, whether the largest is computed rather than the sum.

fn merge(a: T, b: T) -> T {
    return select(a + b, select(b, a, a > b || a != a), MAX);
}
