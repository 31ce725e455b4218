import type { FaultAction } from '../transport.js'

/** An action of one kind. */
export type ActionOf<K extends FaultAction['kind']> = Extract<FaultAction, { readonly kind: K }>

interface Hit {
  readonly action: FaultAction
  /** Index of its rule in the plan. */
  readonly rule: number
}

/** The actions that strike one command, access or moment: at most one of each kind. */
export class Struck {
  /** What was struck, in words: 'SQ 1 CID 7', 'read CSTS'. */
  readonly where: string
  private readonly hits = new Map<FaultAction['kind'], Hit>()

  constructor(where: string) {
    this.where = where
  }

  /** Whether an action of this kind is among them. */
  has(kind: FaultAction['kind']): boolean {
    return this.hits.has(kind)
  }

  /** The action of this kind, if there is one. */
  get<K extends FaultAction['kind']>(kind: K): ActionOf<K> | undefined {
    return this.hits.get(kind)?.action as ActionOf<K> | undefined
  }

  /** The rule that an action comes from. */
  ruleOf(kind: FaultAction['kind']): number | undefined {
    return this.hits.get(kind)?.rule
  }

  /** Puts an action in, of the rule with this index, in place of one of its kind. */
  add(action: FaultAction, rule: number): void {
    this.hits.set(action.kind, { action, rule })
  }

  /** Takes an action out: it happens once. */
  remove(kind: FaultAction['kind']): void {
    this.hits.delete(kind)
  }
}
