import type { FaultAction } from '../transport.js'

/** An action of one kind. */
export type ActionOf<K extends FaultAction['kind']> = Extract<FaultAction, { readonly kind: K }>

interface Hit {
  readonly action: FaultAction
  /** Index of its rule in the plan. */
  readonly rule: number
}

/** The actions that apply to one command, access or time: at most one of each kind. */
export class Struck {
  /** What they apply to, as text: 'SQ 1 CID 7', 'read CSTS'. */
  readonly where: string
  private readonly hits = new Map<FaultAction['kind'], Hit>()

  constructor(where: string) {
    this.where = where
  }

  /** Whether there is an action of this kind. */
  has(kind: FaultAction['kind']): boolean {
    return this.hits.has(kind)
  }

  /** Returns the action of this kind, if any. */
  get<K extends FaultAction['kind']>(kind: K): ActionOf<K> | undefined {
    return this.hits.get(kind)?.action as ActionOf<K> | undefined
  }

  /** Returns the index of the rule of an action. */
  ruleOf(kind: FaultAction['kind']): number | undefined {
    return this.hits.get(kind)?.rule
  }

  /** Adds an action of the rule with this index, replacing one of the same kind. */
  add(action: FaultAction, rule: number): void {
    this.hits.set(action.kind, { action, rule })
  }

  /** Removes an action: it happens once. */
  remove(kind: FaultAction['kind']): void {
    this.hits.delete(kind)
  }
}
