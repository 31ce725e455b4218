/** A turn of fio at one drive: with its rate when it is over. */
export interface Turn {
  readonly drive: 'served' | 'builtin'
  readonly depth: number
  readonly iops?: number
}
