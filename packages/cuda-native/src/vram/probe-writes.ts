import { judge } from './probe-judge.js'
import { withProbe, type Probe } from './probe-prepare.js'
import { filling, probeSteps } from './probe-steps.js'
import { firstLine, refused, type ProbeOptions, type ProbeVerdict } from './probe-verdict.js'

/**
 * Probes whether the controller can write to GPU memory, and checks every byte. The controller does not read GPU memory.
 *
 * The first step is one page in the middle, so that a slightly wrong address hits memory of the probe. Then follow both ends,
 * each boundary where addresses may be discontinuous, and all pages. Before each step the whole memory is filled with new
 * bytes. After it, targets must equal the same blocks read through host memory, and all other bytes the fill. Status and
 * speed do not count.
 * @throws RangeError for an invalid length; errors of the allocators.
 */
export function probeWrites(options: ProbeOptions): Promise<ProbeVerdict> {
  return withProbe(options, (probe) => look(options, probe))
}

async function look(
  { namespace, gpu, seed = 1 }: ProbeOptions,
  { content, memory, gpuPointer }: Probe,
): Promise<ProbeVerdict> {
  const { lengthBytes } = memory
  const { pageBytes, pageBlocks } = content
  const facts: string[] = []
  let before: Uint8Array | undefined
  for (const [index, { name, targets }] of probeSteps(memory, gpuPointer, content, seed).entries()) {
    const fill = filling(lengthBytes, seed, index)
    await gpu.write(gpuPointer, fill)
    memory.forDevice(0, lengthBytes)
    if (Buffer.compare(await gpu.read(gpuPointer, lengthBytes), fill) !== 0)
      return refused('gpu-access', `${name}: GPU memory does not hold what the GPU's driver wrote`, { facts })
    try {
      for (const { offsetBytes, run, firstPage, pages } of targets)
        await namespace.read(run.slba + firstPage * pageBlocks, pages * pageBlocks, memory, { offsetBytes })
    } catch (cause) {
      const said = [...facts, firstLine(cause)]
      return refused('command-failed', `${name}: a read into GPU memory failed`, {
        facts: said,
        cause,
        quarantined: memory,
      })
    }
    memory.forHost(0, lengthBytes)
    const after = await gpu.read(gpuPointer, lengthBytes)
    const fault = judge({ fill, after, before }, targets, pageBytes)
    if (fault !== undefined)
      return refused(fault.reason, `${name}: ${fault.message}`, { facts: [...facts, ...fault.facts] })
    facts.push(`${name}: ${targets.length} ${targets.length === 1 ? 'command' : 'commands'}, every byte correct`)
    before = after
  }
  return { isAccepted: true, facts }
}
