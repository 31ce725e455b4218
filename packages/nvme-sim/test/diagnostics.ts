import type { Diagnostic } from '../src/index.js'

/** Returns the sentences of diagnostics, without code and time. */
export function textsOf(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ text }) => text)
}
