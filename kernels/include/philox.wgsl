// Philox4x32-10: random bits as a function of a counter and a key. (Salmon et al. 2011, section 3.3)

// The high word of a product of two words: WGSL has no 64-bit numbers, so it is put together from four 16-bit products.
fn high_word(a: u32, b: u32) -> u32 {
    let a0 = a & 0xffffu;
    let a1 = a >> 16;
    let b0 = b & 0xffffu;
    let b1 = b >> 16;
    let middle = a1 * b0 + ((a0 * b0) >> 16);
    let carry = (middle & 0xffffu) + a0 * b1;
    return a1 * b1 + (middle >> 16) + (carry >> 16);
}

fn philox(first_counter: vec4<u32>, first_key: vec2<u32>) -> vec4<u32> {
    var counter = first_counter;
    var key = first_key;
    for (var round = 0; round < 10; round++) {
        // the multipliers are those of the paper
        let high0 = high_word(0xD2511F53u, counter.x);
        let high1 = high_word(0xCD9E8D57u, counter.z);
        counter = vec4(high1 ^ counter.y ^ key.x, 0xCD9E8D57u * counter.z, high0 ^ counter.w ^ key.y, 0xD2511F53u * counter.x);
        key += vec2(0x9E3779B9u, 0xBB67AE85u); // the golden ratio, sqrt(3) - 1
    }
    return counter;
}
