import { judge } from './probe-judge.js'
import { withProbe, type Probe } from './probe-prepare.js'
import { filling, probeSteps } from './probe-steps.js'
import { firstLine, refused, type ProbeOptions, type ProbeVerdict } from './probe-verdict.js'

/**
 * Has the controller write into GPU memory and looks at every byte of it: only writes of the controller, never a read.
 * It begins with one page in the middle, so that an address that is somewhat wrong hits memory of the probe's own; then
 * its ends, both sides of each border where addresses may break off, and all of it. Before each step all of the memory
 * is filled afresh; after it, targets must hold the blocks as host memory got them, and everything else the fill.
 * Status and speed count for nothing.
 * @throws RangeError for a length that is not at least two pages of the GPU; what the allocators throw.
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
      return refused('gpu-access', `${name}: GPU memory does not hold what was written to it`, { facts })
    try {
      for (const { offsetBytes, run, firstPage, pages } of targets)
        await namespace.read(run.slba + firstPage * pageBlocks, pages * pageBlocks, memory, { offsetBytes })
    } catch (cause) {
      const said = [...facts, firstLine(cause)]
      return refused('command-failed', `${name}: a read into GPU memory failed`, { facts: said, cause, kept: memory })
    }
    memory.forHost(0, lengthBytes)
    const after = await gpu.read(gpuPointer, lengthBytes)
    const fault = judge({ fill, after, before }, targets, pageBytes)
    if (fault !== undefined)
      return refused(fault.reason, `${name}: ${fault.message}`, { facts: [...facts, ...fault.facts] })
    facts.push(
      `${name}: ${targets.length} ${targets.length === 1 ? 'command' : 'commands'}, every byte as it should be`,
    )
    before = after
  }
  return { isAccepted: true, facts }
}
