// What an operation allocates, measured where no collection can take it away before it is counted.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Room for 256 bytes an operation. A semi-space is as large as both flags say, in MiB; one of them alone moves nothing. */
const SEMI_SPACE_MIB = 256

/**
 * Measures what the module at `url` exports as `works`, in a process of its own with a young generation that holds
 * whatever a million operations allocate.
 * @param {string} url
 * @returns {(name: string, work: string) => import('./versus.mjs').Figure} the figure of one of them
 * @throws where the meter cannot be trusted: an object an operation goes unseen, or a collection happens meanwhile.
 */
export function garbageOf(url) {
  const flags = [`--min-semi-space-size=${SEMI_SPACE_MIB}`, `--max-semi-space-size=${SEMI_SPACE_MIB}`, '--expose-gc']
  const child = [join(import.meta.dirname, 'garbage-child.mjs'), fileURLToPath(url)]
  const output = execFileSync(process.execPath, [...flags, ...child], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const measured = /** @type {Record<string, { bytes: number, controlBytes: number }>} */ (JSON.parse(output))
  return (name, work) => {
    const figure = measured[work]
    if (figure === undefined) throw new RangeError(`${url} exports no work named ${work}`)
    return {
      name,
      value: figure.bytes,
      unit: 'bytes an operation',
      goal: '< 1',
      met: figure.bytes < 1,
      note: `no collection meanwhile; one small object an operation measures ${figure.controlBytes.toFixed(1)}`,
    }
  }
}
