import { withProbe, type Probe } from './probe-prepare.js'
import { firstLine, refused, type ProbeOptions, type ProbeVerdict } from './probe-verdict.js'

/**
 * Has the controller read GPU memory, by Compare, which changes nothing on the drive: it must find what is there, and
 * must notice a byte that differs. Such reads are not posted, and a root complex that drops them takes the drive off the
 * bus: only where that was asked for, and after `probeWrites`.
 * @throws as `probeWrites`
 */
export async function probeReads(options: ProbeOptions): Promise<ProbeVerdict> {
  if (options.namespace.compare === undefined) return refused('no-compare', 'this controller has no Compare')
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
    // Wrong first: who answers "equal" to everything is found before anything is believed.
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
        return refused('command-failed', 'a Compare with GPU memory failed', { facts: said, cause, kept: memory })
      }
      if (answer === isEqual) continue
      const word = (equal: boolean) => (equal ? 'equal' : 'different')
      return refused('wrong-data-read', `byte ${offsetBytes}: the controller does not find what is there`, {
        facts: [...facts, `Compare says ${word(answer)} of bytes that are ${word(isEqual)}`],
      })
    }
    facts.push(`byte ${offsetBytes}: equal and different bytes told apart`)
  }
  return { isAccepted: true, facts }
}
