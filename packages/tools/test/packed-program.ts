import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder that the packed program is laid out in by the first test that starts it: test/process.ts. */
    packed: string
  }
}

/** Lends a folder to the run. Nothing is packed here: most runs start no process. */
export default function setup({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-packed-'))
  provide('packed', folder)
  return () => rmSync(folder, { recursive: true })
}
