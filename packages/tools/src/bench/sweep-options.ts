import { InvalidArgumentError, Option } from 'commander'
import { parseBytes } from '../terminal/units.js'
import type { DataPattern } from './content.js'
import { WORDS, type Word } from './shape.js'

/** A comma-separated list of values; duplicates are dropped. */
function list(flags: string, description: string, parse: (text: string) => unknown): Option {
  return new Option(flags, description).argParser((text: string) => [...new Set(text.split(',').map(parse))])
}

export function sizes(flags: string, description: string): Option {
  return list(flags, description, (text) => {
    const bytes = parseBytes(text)
    if (bytes === undefined || bytes < 512 || bytes % 512 !== 0)
      throw new InvalidArgumentError("Expected one or more sizes, multiples of 512 bytes, for example '4KiB,128KiB'.")
    return bytes
  })
}

export function counts(flags: string, description: string, max: number): Option {
  return list(flags, description, (text) => {
    const value = /^\d+$/.test(text.trim()) ? Number(text) : NaN
    if (!(value >= 1 && value <= max)) throw new InvalidArgumentError(`Expected integers from 1 to ${max}.`)
    return value
  })
}

/** @param names the allowed names. */
export function words(flags: string, description: string, names: readonly string[]): Option {
  return list(flags, description, (text) => {
    const found = names.find((name) => name === text.trim())
    if (found === undefined)
      throw new InvalidArgumentError(`Expected names from ${names.join(', ')}, separated by commas.`)
    return found
  })
}

export const RW_WORDS = Object.keys(WORDS) as Word[]

/** A time in seconds, at most a day. */
export function seconds(flags: string, description: string, min: number): Option {
  return new Option(flags, description).argParser((text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN
    if (!(value >= min && value <= 86_400)) throw new InvalidArgumentError(`Expected ${min} to 86400 seconds.`)
    return value
  })
}

/** Data of writes. */
export function dataPattern(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text): DataPattern => {
    if (text === 'random') return 'random'
    const [, digits] = /^0x((?:[0-9a-f]{2}){1,64})$/i.exec(text) ?? []
    if (digits === undefined)
      throw new InvalidArgumentError(
        "Expected 'random', or up to 64 bytes such as 0x00 or 0xdeadbeef. (--rw sets the access pattern.)",
      )
    return Uint8Array.from(Buffer.from(digits, 'hex'))
  })
}
