import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder that the workers of a run share. */
    runFolder: string
  }
}

const LIMIT_MS = 240_000
const POLL_MS = 50

/** Returns a folder that all workers of the test run share. The first caller fills it; the others wait for it. */
export async function sharedFolder(name: string, fill: (folder: string) => void): Promise<string> {
  const folder = join(inject('runFolder'), name)
  if (mkdirSync(`${folder}.claimed`, { recursive: true }) !== undefined) {
    const partial = `${folder}.partial`
    mkdirSync(partial)
    fill(partial)
    renameSync(partial, folder)
  }
  const untilMs = performance.now() + LIMIT_MS
  while (!existsSync(folder)) {
    if (performance.now() > untilMs) throw new Error(`Another worker has not filled ${name}: see its failure`)
    await sleep(POLL_MS)
  }
  return folder
}
