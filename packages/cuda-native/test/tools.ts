import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Returns which programs are not on PATH, as in `make is not installed`; undefined if all are. */
export function missingTools(...programs: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const missing = programs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))))
  return missing.length === 0 ? undefined : `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not installed`
}

/** Returns why a C or C++ compiler cannot compile a file that includes these headers; undefined if it can. */
export function missingHeaders(
  compiler: string,
  language: 'c' | 'c++',
  headers: readonly string[],
): string | undefined {
  const input = headers.map((header) => `#include <${header}>\n`).join('')
  const { error, status } = spawnSync(compiler, ['-x', language, '-fsyntax-only', '-'], { input })
  if (error !== undefined) return `${compiler} is not installed`
  return status === 0 ? undefined : `${compiler} does not find ${headers.join(', ')}`
}
