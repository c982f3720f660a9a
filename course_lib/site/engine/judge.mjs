export async function judge() { throw new Error('not yet'); }
