// Calls every exported function of the addon with wrong arguments, in a process that may crash:
//   node --expose-gc addon-child.mjs ADDON FOLDER SEED { 'every' | CALLS }
// FOLDER/call names the current call; FOLDER/report is written at the end.
import { chmodSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setImmediate as turn } from 'node:timers/promises'
import { World } from './addon-calls.mjs'
import { randomOf } from './random.mjs'
import { OwnError, wrongValues } from './wrong-values.mjs'

const CALLS_BETWEEN_TURNS = 64
const CALLS_BETWEEN_WORLDS = 256
/** Length of an array, most of which may be holes. */
const MAX_COPIED = 1024

const [addonPath = '', folder = '', seedText, amount = ''] = process.argv.slice(2)
const addon = createRequire(import.meta.url)(addonPath)
const progress = openSync(`${folder}/call`, 'w')
writeFileSync(`${folder}/report`, '')
chmodSync(folder, 0o777)
chmodSync(`${folder}/report`, 0o666)
process.chdir(folder)
if (process.getuid?.() === 0) {
  // Drops privileges, so that the limit of locked memory applies and the files of other users are safe.
  process.setgid?.(65534)
  process.setuid?.(65534)
}

const random = randomOf(Number(seedText))
const names = Object.keys(addon).sort()
const kinds = [...wrongValues.keys()]
const world = new World(addon, random)

let calls = 0
let waitingForTurn = 0
for (const [name, args, words] of amount === 'every' ? everyWrongArgument() : randomCalls(Number(amount))) {
  const line = `${calls} ${name}(${words})`.slice(0, 2000).padEnd(2000)
  writeSync(progress, line, 0)
  calls++
  try {
    world.call(name, args)
  } catch (error) {
    if (!isTyped(error)) throw new Error(`${line.trimEnd()} threw an error without a type`, { cause: error })
  }
  if (++waitingForTurn === CALLS_BETWEEN_TURNS) {
    waitingForTurn = 0
    await turn()
  }
  if (calls % CALLS_BETWEEN_WORLDS === 0) {
    world.renew()
    globalThis.gc?.()
  }
}
world.end()
globalThis.gc?.()
await turn()
writeFileSync('report', JSON.stringify({ calls }))
process.exit(0)

/** Recognizes errors of arguments, of the kernel, of executors, and of the caller's own getters. */
function isTyped(/** @type {any} */ error) {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof OwnError) return true
  return error instanceof Error && ('code' in error || 'call' in error)
}

/**
 * Yields, for each argument of each function, a call with each wrong value; and calls with too few arguments.
 *
 * @returns {Generator<[name: string, args: unknown[], words: string]>}
 */
function* everyWrongArgument() {
  for (const name of names) {
    const count = Math.max(world.validArguments(name)?.length ?? 4, 1)
    for (let place = 0; place < count; place++) {
      for (const kind of kinds) {
        const args = world.validArguments(name) ?? []
        args[place] = wrongValues.get(kind)?.()
        yield [name, args, `argument ${place}: ${kind}`]
      }
      yield [name, (world.validArguments(name) ?? []).slice(0, place), `${place} arguments`]
    }
  }
}

/**
 * @param {number} count
 * @returns {Generator<[name: string, args: unknown[], words: string]>}
 */
function* randomCalls(count) {
  for (let call = 0; call < count; call++) {
    const name = random.pick(names)
    const args = world.validArguments(name) ?? Array.from({ length: random.below(6) }, () => anyValue()[0])
    const words = []
    for (let place = 0; place <= args.length && words.length < 2; place++) {
      if (!random.onceIn(args.length + 1)) continue
      const [value, word] = changed(args[place])
      args[place] = value
      words.push(`argument ${place}: ${word}`)
    }
    yield [name, args, words.join(', ')]
  }
}

/** @returns {[value: unknown, word: string]} */
function anyValue() {
  if (random.onceIn(4)) return [world.known(), 'a handle or a descriptor']
  const kind = random.pick(kinds)
  return [wrongValues.get(kind)?.(), kind]
}

/**
 * Returns another value, or a copy of an object with another property at any depth.
 *
 * @param {unknown} value of the valid arguments
 * @returns {[value: unknown, word: string]}
 */
function changed(value) {
  const copy = random.onceIn(6) ? undefined : copyOf(value)
  if (copy === undefined) return anyValue()
  const key = random.pick(Object.keys(copy))
  if (key === undefined) return anyValue()
  const property = /** @type {any} */ (copy)[key]
  const [next, word] = random.onceIn(8) ? ownGetter() : changed(property)
  // Native code trusts addresses and the lengths of their memory; long timeouts only make the run slow.
  if (isBelieved(key, copy) && typeof next === typeof property) return [copy, `${key} as it was`]
  if (word === 'getter')
    Object.defineProperty(copy, key, { get: /** @type {any} */ (next)(property), enumerable: true })
  else /** @type {any} */ (copy)[key] = next
  return [copy, `${key}: ${word}`]
}

/**
 * Returns a copy of an array or a plain object; undefined of other values, of long arrays, and of those that throw when they
 * are read: a revoked proxy, or an object with a failing getter.
 *
 * @param {unknown} value
 */
function copyOf(value) {
  try {
    if (Array.isArray(value)) return value.length > MAX_COPIED ? undefined : [...value]
    return Object.getPrototypeOf(value ?? 0) === Object.prototype ? { .../** @type {object} */ (value) } : undefined
  } catch {
    return undefined
  }
}

/**
 * @param {string} key
 * @param {object} object
 */
function isBelieved(key, object) {
  return ['address', 'clock', 'timeoutNs'].includes(key) || (key === 'lengthBytes' && 'address' in object)
}

/**
 * Returns a getter that calls the addon before it returns the property.
 *
 * @returns {[value: (property: unknown) => () => unknown, word: string]}
 */
function ownGetter() {
  const name = random.pick(['engineClose', 'engineDetach', 'engineAttach', 'engineHalt', 'enginePost'])
  return [
    (property) => () => {
      world.quietly(() => addon[name](...(world.validArguments(name) ?? [])))
      return property
    },
    'getter',
  ]
}
