import { basename } from 'node:path'

/** Options whose values are private. */
const PRIVATE = new Set(['--serial'])
const MAX_CHARACTERS = 1000

/** Returns the command line for published results, without local paths and serial numbers. */
export function shownCommand(words: readonly string[]): string {
  const shown = words.map((word, index) => {
    if (PRIVATE.has(words[index - 1] ?? '')) return '...'
    const [name, value] = /^(--[a-z-]+)=(.*)$/s.exec(word)?.slice(1) ?? []
    if (name !== undefined && PRIVATE.has(name)) return `${name}=...`
    if (name !== undefined && value?.startsWith('/') === true) return `${name}=${basename(value)}`
    return word.startsWith('/') ? basename(word) : word
  })
  return ['gpunvme', ...shown].join(' ').slice(0, MAX_CHARACTERS)
}
