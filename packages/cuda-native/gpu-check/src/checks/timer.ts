import { equal, fail, type Check } from '../check.js'

/** Long enough for thousands of steps of a microsecond. */
const LOOKS = 1_000_000

const step: Check = {
  id: 'timer-step',
  title: 'The clock by which time-outs are measured never goes back, and steps by less than a millisecond',
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
    words.set([BigInt(LOOKS), 0n, 0n, 0n, 0n, 0n])
    cuda.launch('gpunvme_timer_steps', 1, 1, [run.gpuPointer], stream)
    await stream.finished(20e9)
    const [steps, leastNs, mostNs, spanNs, backwards] = [...words].slice(1).map(Number) as [
      ...[number, number, number, number, number],
    ]
    equal('times that were earlier than the one before', backwards, 0)
    if (steps === 0) fail(`the clock stood still while it was looked at ${LOOKS} times`)
    if (leastNs >= 1e6) fail(`the clock steps by ${leastNs} ns`)
    const conditions = { looks: LOOKS, steps, mostNs, clock: '%globaltimer' }
    const figure = (name: string, value: number, per: string) =>
      context.figure({ name, value, unit: 'ns', per, conditions })
    figure('globaltimer-step', leastNs, 'the smallest step that was seen')
    figure('globaltimer-mean-step', Math.round((10 * spanNs) / steps) / 10, 'one step, on average')
    return { steps, leastNs, mostNs }
  },
}

/** The GPU's clock. */
export const timerChecks: readonly Check[] = [step]
