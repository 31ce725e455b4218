/** A program of `guest/` that runs in the guest, as a process of its own. */
export interface Scenario {
  readonly name: string
  /** Its file, without the ending. */
  readonly script: string
  readonly timeoutMs: number
  readonly environment?: Readonly<Record<string, string>>
}

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: string | null
  readonly ms: number
  readonly stderr: string
}

/** What the guest says, a line of JSON each. */
export interface Message {
  readonly booted?: { readonly release: string; readonly kernel: readonly string[] }
  /** Whose line or end this is. */
  readonly scenario?: string
  readonly line?: string
  readonly end?: ProcessEnd
  /** What the kernel has said since the last time. */
  readonly kernel?: readonly string[]
  readonly done?: true
}
