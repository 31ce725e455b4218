import { InvalidArgumentError, Option } from 'commander'
import { parseBytes } from '../terminal/units.js'
import type { DataPattern } from './content.js'
import { WORDS, type Word } from './shape.js'

/** A list of values, separated by commas, without one twice. */
function list(flags: string, description: string, parse: (text: string) => unknown): Option {
  return new Option(flags, description).argParser((text: string) => [...new Set(text.split(',').map(parse))])
}

export function sizes(flags: string, description: string): Option {
  return list(flags, description, (text) => {
    const bytes = parseBytes(text)
    if (bytes === undefined || bytes < 512 || bytes % 512 !== 0)
      throw new InvalidArgumentError("Expected sizes such as '4KiB,128KiB': multiples of 512 bytes, one or more.")
    return bytes
  })
}

export function counts(flags: string, description: string, most: number): Option {
  return list(flags, description, (text) => {
    const value = /^\d+$/.test(text.trim()) ? Number(text) : NaN
    if (!(value >= 1 && value <= most)) throw new InvalidArgumentError(`Expected whole numbers from 1 to ${most}.`)
    return value
  })
}

/** @param names the only ones that there are. */
export function words(flags: string, description: string, names: readonly string[]): Option {
  return list(flags, description, (text) => {
    const found = names.find((name) => name === text.trim())
    if (found === undefined)
      throw new InvalidArgumentError(`Expected some of ${names.join(', ')}, with commas between.`)
    return found
  })
}

export const RW_WORDS = Object.keys(WORDS) as Word[]

/** A time in seconds, as long as a day at most. */
export function seconds(flags: string, description: string, least: number): Option {
  return new Option(flags, description).argParser((text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN
    if (!(value >= least && value <= 86_400))
      throw new InvalidArgumentError(`Expected seconds, from ${least} to 86400.`)
    return value
  })
}

/** What writes carry. */
export function dataPattern(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text): DataPattern => {
    if (text === 'random') return 'random'
    const [, digits] = /^0x((?:[0-9a-f]{2}){1,64})$/i.exec(text) ?? []
    if (digits === undefined)
      throw new InvalidArgumentError(
        "Expected 'random', or up to 64 bytes such as 0x00 or 0xdeadbeef; in which order blocks are touched is said by --rw.",
      )
    return Uint8Array.from(Buffer.from(digits, 'hex'))
  })
}
