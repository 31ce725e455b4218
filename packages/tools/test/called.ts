import { createProgram } from '../src/program.js'

/** Calls a verb in this process, where a whole one would only make it slow. Gives the error that it ends with. */
export async function failureOf(...words: string[]): Promise<Error> {
  const session = { signal: new AbortController().signal, exitCode: 0 }
  const program = await createProgram(session, words)
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error(`gpunvme ${words.join(' ')}: expected a refusal, got none`)
}
