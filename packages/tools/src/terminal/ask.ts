import { createInterface } from 'node:readline/promises'
import type { Output } from './output.js'

/** Whether somebody is there to answer, and to see the question. */
export function canAsk({ json }: Output): boolean {
  return !json && process.stdin.isTTY && process.stderr.isTTY
}

/** Asks on the terminal. @returns the answer without blanks around it; the end of input is the empty answer. */
export async function ask(question: string, signal?: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
    const answer = signal === undefined ? lines.question(question) : lines.question(question, { signal })
    return (await Promise.race([answer, ended])).trim()
  } finally {
    lines.close()
  }
}
