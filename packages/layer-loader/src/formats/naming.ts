import { NAMING_SCHEMES, type NamingScheme, type NamingSchemeName } from './naming-schemes.js'
import { quote } from './quote.js'

/** Custom rules, for tensors with unusual names. A missing rule falls back to the published schemes. */
export interface TensorNaming {
  /**
   * The first group captures the number of the layer, as in `/^decoder\.(\d+)\./`. Other tensors belong to no layer.
   */
  readonly layer?: RegExp
  /**
   * Matches the tensors of routed experts. A group captures the number of the expert; without a capture, the tensor
   * stacks all experts in its outermost dimension.
   */
  readonly expert?: RegExp
}

/** Name of one published scheme, or custom rules. Default: all published schemes apply. */
export type Naming = NamingSchemeName | TensorNaming

/** Where a tensor is needed in a pass. */
export type TensorPlace =
  | { readonly at: 'embedding' }
  | { readonly at: 'output' }
  | { readonly at: 'layer'; readonly stack: string; readonly number: number }
  | { readonly at: 'mtp'; readonly number: number | undefined }

/** Compiled rules of a naming. */
export interface NamingRules {
  placeOf(name: string): TensorPlace
  /** Returns whether a layer with this tensor is an MTP layer. */
  marksMtp(name: string): boolean
  /**
   * Returns the expert that a tensor belongs to, by name: a number, 'all' if it may stack all experts, undefined for a
   * tensor that every token needs, such as a shared expert or the router.
   * @throws RangeError if custom rules capture something other than a number.
   */
  expertIn(name: string): number | 'all' | undefined
}

const known = new Map<string, NamingRules>()

/**
 * Returns the rules of a naming.
 * @throws RangeError for an unknown scheme.
 */
export function rulesOf(naming?: Naming): NamingRules {
  if (typeof naming === 'object') return withOwn(rulesOf(), naming)
  const key = naming ?? ''
  let rules = known.get(key)
  if (rules === undefined) {
    const schemes = NAMING_SCHEMES.filter(({ name }) => naming === undefined || name === naming)
    if (schemes.length === 0) {
      const names = NAMING_SCHEMES.map(({ name }) => name).join(', ')
      throw new RangeError(`naming: expected one of ${names}, got ${quote(String(naming))}`)
    }
    known.set(key, (rules = combine(schemes)))
  }
  return rules
}

/** Joins the expressions of each kind, so that half a million names take one search each. */
function combine(schemes: readonly NamingScheme[]): NamingRules {
  const join = (kind: 'layer' | 'before' | 'after' | 'mtp' | 'mtpMark' | 'expert' | 'experts'): RegExp => {
    const sources = new Set(schemes.flatMap((scheme) => scheme[kind]?.source ?? []))
    // An empty class matches nothing.
    return new RegExp(sources.size === 0 ? '[]' : [...sources].map((source) => `(?:${source})`).join('|'))
  }
  const [layer, before, after, mtp, mtpMark, expert, experts] = [
    join('layer'),
    join('before'),
    join('after'),
    join('mtp'),
    join('mtpMark'),
    join('expert'),
    join('experts'),
  ]
  return {
    placeOf(name) {
      const inMtp = mtp.exec(name)
      if (inMtp !== null) {
        const [digits] = captured(inMtp)
        return { at: 'mtp', number: digits === undefined ? undefined : Number(digits) }
      }
      const inLayer = layer.exec(name)
      if (inLayer !== null) {
        const digits = captured(inLayer)[0]!
        const stackLength = inLayer.index + inLayer[0].lastIndexOf(digits) - 1
        return { at: 'layer', stack: name.slice(0, stackLength), number: Number(digits) }
      }
      return { at: !after.test(name) && before.test(name) ? 'embedding' : 'output' }
    },
    marksMtp: (name) => mtpMark.test(name),
    expertIn(name) {
      const match = expert.exec(name)
      if (match !== null) return Number(captured(match)[0])
      return experts.test(name) ? 'all' : undefined
    },
  }
}

function withOwn(published: NamingRules, naming: TensorNaming): NamingRules {
  const layer = naming.layer && stateless(naming.layer)
  const expert = naming.expert && stateless(naming.expert)
  return {
    placeOf(name) {
      if (layer === undefined) return published.placeOf(name)
      const match = layer.exec(name)
      if (match !== null) return { at: 'layer', stack: '', number: numberIn('layer', match[1] ?? '', name) }
      const { at } = published.placeOf(name)
      return { at: at === 'embedding' ? at : 'output' }
    },
    marksMtp: (name) => layer === undefined && published.marksMtp(name),
    expertIn(name) {
      if (expert === undefined) return published.expertIn(name)
      const match = expert.exec(name)
      if (match === null) return undefined
      const [digits] = captured(match)
      return digits === undefined ? 'all' : numberIn('expert', digits, name)
    },
  }
}

/** Returns the groups that took part in a match. Those of other alternatives are undefined, despite the types. */
function captured(match: RegExpExecArray): string[] {
  return match.slice(1).filter((group: string | undefined) => group !== undefined)
}

/** Removes the flags g and y, with which a search would start where the last one ended. */
function stateless(expression: RegExp): RegExp {
  return new RegExp(expression.source, expression.flags.replace(/[gy]/g, ''))
}

function numberIn(rule: keyof TensorNaming, digits: string, name: string): number {
  if (/^\d{1,6}$/.test(digits)) return Number(digits)
  const expected = rule === 'layer' ? 'its first group to be' : 'it to capture'
  throw new RangeError(`naming.${rule}: expected ${expected} a number, got ${quote(digits)} in ${quote(name)}`)
}
