/** A command that was given up: its deadline passed, or the controller failed under it. */
export interface OverdueCommand {
  readonly qid: number
  readonly cid: number
  /** Its completion, if it arrived late. */
  completion?: { readonly status: number; readonly dw0: number }
}
