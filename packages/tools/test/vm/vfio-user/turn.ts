/** A run of fio on one drive, with its rate after it ended. */
export interface Turn {
  readonly drive: 'served' | 'builtin'
  readonly depth: number
  readonly iops?: number
}
