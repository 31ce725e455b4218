import { placed, type Diagnosis } from './examine.js'
import { gpunvme } from '../facts.js'
import { command, type Step } from '../finding.js'
import { stepsOf } from './sections.js'

/** Returns the next step. */
export function nextStep({ facts, findings, reach, isPartial }: Omit<Diagnosis, 'pairs'>): Step {
  if (reach === 'simulator') {
    // The simulator runs on this machine, also if the files of another were read.
    const alone = computes({ facts }) ? ['bench', '--real-time', '--engines', 'host,cpu-kernel,cuda'] : ['demo']
    return command(isPartial ? gpunvme(facts, 'doctor') : { command: alone })
  }
  if (reach === 'unknown') {
    const blind = findings.filter(({ severity, closes }) => severity === 'unknown' && closes.includes('memory'))
    const [first] = blind.flatMap(({ steps }) => steps)
    if (first !== undefined) return first
    const words =
      facts.process?.isRoot === false ? gpunvme(facts, 'doctor', 'root') : gpunvme(facts, 'doctor --verbose')
    return command(words)
  }
  const first = stepsOf(reach)
    .flatMap(({ steps }) => steps)
    .find(({ kind }) => kind !== 'instead')
  if (first !== undefined) return first
  return placed(facts, command(gpunvme(facts, `nvme identify --drive ${reach.drive}`, 'root')))
}

/** Whether CUDA has a GPU here that the engine cuda can use with a simulated drive. */
export function computes({ facts: { process } }: Pick<Diagnosis, 'facts'>): boolean {
  return (
    process?.cuda.available === true &&
    process.addon.isLoaded &&
    process.cuda.devices.some(({ engine }) => engine.usable)
  )
}
