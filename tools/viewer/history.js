'use strict';
// The supersteps of a run, prepared for queries about any range of cycles.

class History {
  constructor(steps) {
    this.steps = steps;
    this.count = steps.rows;
    this.start = steps.of('start_cycle');
    this.cycles = steps.of('cycles');
    this.begin = this.count > 0 ? this.start[0] : 0;
    this.end = this.count > 0 ? this.start[this.count - 1] + this.cycles[this.count - 1] : 1;
    // Running sums: cycles spent before superstep i; one entry more than supersteps.
    this.sums = Object.fromEntries(PARTS.map(part => [part, History.runningSum(steps.of(part + '_cycles'))]));
    this.bytes = History.runningSum(steps.of('exchange_bytes'));
    this.most = History.runningSum(steps.of('most_compute_cycles'));
    this.mean = History.runningSum(steps.of('mean_compute_cycles'));
  }
  static runningSum(values) {
    const sums = new Float64Array(values.length + 1);
    for (let i = 0; i < values.length; ++i) sums[i + 1] = sums[i] + values[i];
    return sums;
  }
  /** The superstep that runs at `cycle`, or the last one before it; -1 before the first. */
  at(cycle) {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[middle] <= cycle) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
  /** The running sum at `cycle`, linear within a superstep. */
  until(sums, cycle, i = this.at(cycle)) {
    if (i < 0) return 0;
    const share = Math.min(1, (cycle - this.start[i]) / this.cycles[i]);
    return sums[i] + share * (sums[i + 1] - sums[i]);
  }
  /** The largest of `values` over the supersteps that touch [from, to). */
  largest(values, from, to) {
    let most = 0;
    for (let i = Math.max(0, this.at(from)); i < this.count && this.start[i] < to; ++i)
      most = Math.max(most, values[i]);
    return most;
  }
}

/** One history per zone, by number: supersteps of different zones overlap in time. */
function historiesOfZones(steps) {
  const zones = steps.find('zone')?.values;
  if (!zones || zones.every(zone => zone === zones[0])) return [new History(steps)];
  const rows = Array.from({length: largestOf(zones) + 1}, () => []);
  zones.forEach((zone, row) => rows[zone].push(row));
  return rows.filter(own => own.length > 0).map(own => new History(steps.only(own)));
}

/** The history of the zone that computes most, by which the run's time is accounted. */
function busiestOf(histories) {
  const computing = histories.map(history => history.sums.compute[history.count]);
  return histories[computing.indexOf(Math.max(...computing))];
}

function showSuperstep(row, {start, cycles} = theRun().history) {
  showRange(start[row] - 0.15 * cycles[row], start[row] + 1.15 * cycles[row]);
  document.getElementById('timeline').scrollIntoView({block: 'start'});
}
