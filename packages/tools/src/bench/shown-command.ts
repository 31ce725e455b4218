import { basename } from 'node:path'

/** Words after which something stands that is nobody else's business. */
const PRIVATE = new Set(['--serial'])
const MOST_CHARACTERS = 1000

/** What was typed, for results that are shown around: without paths of this machine and without a drive's serial number. */
export function shownCommand(words: readonly string[]): string {
  const shown = words.map((word, index) => {
    if (PRIVATE.has(words[index - 1] ?? '')) return '...'
    const [name, value] = /^(--[a-z-]+)=(.*)$/s.exec(word)?.slice(1) ?? []
    if (name !== undefined && PRIVATE.has(name)) return `${name}=...`
    if (name !== undefined && value?.startsWith('/') === true) return `${name}=${basename(value)}`
    return word.startsWith('/') ? basename(word) : word
  })
  return ['gpunvme', ...shown].join(' ').slice(0, MOST_CHARACTERS)
}
