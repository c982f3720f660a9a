// Sums and maxima of one type T. A number that is not one reaches the result.
//
// Constants: T, the type of the elements; MAX, whether the largest is wanted rather than the sum.

fn merge(a: T, b: T) -> T {
    return select(a + b, select(b, a, a > b || a != a), MAX);
}
