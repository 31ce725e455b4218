// Derives C names from the names of declarations, and rejects duplicates.

/** Invalid names of tags and members: keywords of C and C++, and lower-case macros of compilers and of Linux. */
const taken = new Set(
  `alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const const_cast
  consteval constexpr constinit continue co_await co_return co_yield current decltype default delete do double
  dynamic_cast else enum errno explicit export extern false float for friend goto i386 if inline int linux long mutable
  namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
  requires restrict return short signed sizeof static static_assert static_cast struct switch template this
  thread_local throw true try typedef typeid typename typeof union unix unsigned using virtual void volatile wchar_t
  while xor xor_eq`.split(/\s+/),
)

/** Separates the words of a name with underscores: `CreateIoSq` becomes `Create_Io_Sq`, `RTD3R` is unchanged. */
function words(/** @type {string} */ name) {
  if (!/[a-z]/.test(name)) return name
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/([A-Z]+)([A-Z][a-z]{2,})/g, '$1_$2')
}

/** Returns the name of a macro, such as `GPUNVME_CREATE_IO_SQ_QID_SHIFT`. */
export function macro(/** @type {string[]} */ ...parts) {
  const name = ['GPUNVME', ...parts.map(words)].join('_').toUpperCase()
  if (!/^[A-Z][A-Z0-9_]*$/.test(name)) throw new Error(`${parts.join('.')}: ${name} is not a valid macro name in C`)
  return name
}

/** Returns the lower-case name of a structure or a member. */
export function lower(/** @type {string} */ name, /** @type {string} */ owner) {
  const text = words(name).toLowerCase()
  if (!/^[a-z][a-z0-9_]*$/.test(text)) throw new Error(`${owner}: ${text} is not a valid name in C`)
  if (taken.has(text)) throw new Error(`${owner}: ${text} is a keyword of C or C++, or a macro of their headers`)
  return text
}

/** Returns a function that rejects a name used twice: by two declarations, or by a field and a value. */
export function uniqueNames() {
  /** @type {Map<string, string>} */
  const owners = new Map()
  return (/** @type {string} */ name, /** @type {string} */ owner) => {
    const first = owners.get(name)
    if (first !== undefined)
      throw new Error(`${name} would be the C name of both ${first} and ${owner}: rename one of them`)
    owners.set(name, owner)
    return name
  }
}

/** Returns an unsigned C constant of 32 bits, or of 64 if `bits` or the value requires it. */
export function constant(/** @type {number | bigint} */ value, bits = 32) {
  return `0x${value.toString(16)}${bits > 32 || value > 0xffff_ffff ? 'ULL' : 'u'}`
}

/** Returns a text as a C comment. */
export function comment(/** @type {string} */ text) {
  if (text.includes('*/') || text.includes('/*')) throw new Error(`"${text}" contains a delimiter of C comments`)
  return `/* ${text} */`
}

/** Returns the text of a field's comment. */
export function docOf(/** @type {{ doc: string, zeroBased?: boolean }} */ { doc, zeroBased = false }) {
  return zeroBased ? `${doc}, 0's based` : doc
}
