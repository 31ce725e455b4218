// Measures the bytes that an operation allocates, without garbage collections during the run.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Size of a semi-space in MiB, enough for 256 bytes per operation. Only both flags together set it. */
const SEMI_SPACE_MIB = 256

/**
 * Measures the functions that the module at `url` exports as `works`, in its own process, with a young generation that
 * fits the allocations of a million operations.
 * @param {string} url
 * @returns {(name: string, work: string) => import('./versus.mjs').Figure} the figure of one function
 * @throws if the meter is unreliable: it misses one object per operation, or a collection happens during the run.
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
      unit: 'bytes per operation',
      goal: '< 1',
      met: figure.bytes < 1,
      note: `no collection during the run; for one small object per operation the meter reads ${figure.controlBytes.toFixed(1)}`,
    }
  }
}
