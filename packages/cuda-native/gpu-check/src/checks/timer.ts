import { equal, fail, type Check } from '../check.js'

/** Number of clock reads: enough for thousands of steps of a microsecond. */
const READS = 1_000_000

const step: Check = {
  id: 'timer-step',
  title: 'The clock for time-outs never goes backwards, and its step is less than a millisecond',
  limitMs: 60_000,
  async run(context) {
    const { cuda, kernels } = context
    cuda.loadKernels(kernels.measure)
    const run = cuda.allocPinned(4096)
    context.later(() => run.free())
    const stream = cuda.stream()
    context.later(() => stream.close())
    // struct TimerRun of kernels/timer.cuh.
    const words = new BigUint64Array(run.buffer, 0, 6)
    words.set([BigInt(READS), 0n, 0n, 0n, 0n, 0n])
    cuda.launch('gpunvme_timer_steps', 1, 1, [run.gpuPointer], stream)
    await stream.finished(20e9)
    const [steps, minNs, maxNs, spanNs, backwards] = [...words].slice(1).map(Number) as [
      ...[number, number, number, number, number],
    ]
    equal('times that are earlier than the previous one', backwards, 0)
    if (steps === 0) fail(`the clock did not change during ${READS} reads`)
    if (minNs >= 1e6) fail(`clock step: expected less than 1 ms, got ${minNs} ns`)
    const conditions = { looks: READS, steps, maxNs, clock: '%globaltimer' }
    const figure = (name: string, value: number, per: string) =>
      context.figure({ name, value, unit: 'ns', per, conditions })
    figure('globaltimer-step', minNs, 'the smallest step observed')
    figure('globaltimer-mean-step', Math.round((10 * spanNs) / steps) / 10, 'one step, on average')
    return { steps, minNs, maxNs }
  },
}

/** The GPU's clock. */
export const timerChecks: readonly Check[] = [step]
