/** A program that runs as a separate process in the guest. */
export interface Scenario {
  readonly name: string
  /** Name of its file, without the extension. */
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

/** A message from the guest: one line of JSON. */
export interface Message {
  readonly booted?: { readonly release: string; readonly kernel: readonly string[] }
  /** Name of the scenario that printed the line or ended. */
  readonly scenario?: string
  readonly line?: string
  readonly end?: ProcessEnd
  /** Kernel messages since the last message with this field. */
  readonly kernel?: readonly string[]
  readonly done?: true
}
