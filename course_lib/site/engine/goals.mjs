// What a goal counts, from the counters of all launches of a case: coach/kernels.py has the same by the same names.

const sum = (lines, of) => lines.reduce((all, line) => all + of(line), 0);
const only = (counters, space, op) => counters.filter(line => line.space === space && (!op || [op].flat().includes(line.op)));
const rate = (lines, of) => lines.length ? sum(lines, line => line.requests * of(line)) / sum(lines, line => line.requests) : null;

export const GOALS = {
  sectors: (counters, { op }) => rate(only(counters, 'global', op), line => line.sectorsPerRequest),
  requests(counters, { op, space }) {
    const lines = only(counters, space, op);
    return lines.length ? sum(lines, line => line.requests) : null;
  },
  bank_wavefronts: counters => rate(only(counters, 'shared'), line => line.wavefrontsPerRequest),
  idle_lanes(counters, { space, ops }) {
    const active = rate(only(counters, space, ops), line => line.activeLanes);
    return active === null ? null : 32 - active;
  },
  bytes_moved: counters => counters.length ? sum(only(counters, 'global'), line => line.bytesMoved) : null,
};
