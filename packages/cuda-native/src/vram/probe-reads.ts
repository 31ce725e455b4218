import { withProbe, type Probe } from './probe-prepare.js'
import { firstLine, refused, type ProbeOptions, type ProbeVerdict } from './probe-verdict.js'

/**
 * Probes whether the controller can read GPU memory, by Compare commands, which do not change the drive: equal memory must
 * compare as equal, and memory with one changed byte as different. A root complex that drops such reads takes the drive off
 * the bus, so call this only after `probeWrites`, and if that risk is accepted.
 * @throws as `probeWrites`
 */
export async function probeReads(options: ProbeOptions): Promise<ProbeVerdict> {
  if (options.namespace.compare === undefined) return refused('no-compare', 'this controller does not support Compare')
  return withProbe(options, (probe) => look(options, probe))
}

async function look({ namespace, gpu }: ProbeOptions, { content, memory, gpuPointer }: Probe): Promise<ProbeVerdict> {
  const { pageBytes, pageBlocks, runs } = content
  const pagesThere = Math.floor(memory.lengthBytes / pageBytes)
  const facts: string[] = []
  for (const [index, page] of [Math.floor(pagesThere / 2) + 1, 0, pagesThere - 1].entries()) {
    const offsetBytes = page * pageBytes
    const run = runs[index % runs.length]!
    const right = run.bytes.slice(0, pageBytes)
    const wrong = right.slice()
    const changed = (1021 * (index + 1)) % pageBytes
    wrong[changed] = right[changed]! ^ 0x01
    // Different bytes first: this detects a controller that always reports equality.
    for (const [bytes, isEqual] of [
      [wrong, false],
      [right, true],
    ] as const) {
      await gpu.write(gpuPointer + BigInt(offsetBytes), bytes)
      memory.forDevice(offsetBytes, pageBytes)
      let answer: boolean
      try {
        answer = (await namespace.compare?.(run.slba, pageBlocks, memory, { offsetBytes })) ?? false
      } catch (cause) {
        const said = [...facts, firstLine(cause)]
        return refused('command-failed', 'a Compare with GPU memory failed', {
          facts: said,
          cause,
          quarantined: memory,
        })
      }
      if (answer === isEqual) continue
      const word = (equal: boolean) => (equal ? 'equal' : 'different')
      return refused('wrong-data-read', `byte ${offsetBytes}: the controller read wrong data`, {
        facts: [...facts, `Compare reported ${word(answer)} for bytes that are ${word(isEqual)}`],
      })
    }
    facts.push(`byte ${offsetBytes}: equal and different bytes distinguished`)
  }
  return { isAccepted: true, facts }
}
