// Names in C: one spelling for each declaration, and a refusal of two things that would share one.

/** Words that no member and no tag may be: of C, of C++, and lower-case macros of compilers and of Linux. */
const taken = new Set(
  `alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const const_cast
  consteval constexpr constinit continue co_await co_return co_yield current decltype default delete do double
  dynamic_cast else enum errno explicit export extern false float for friend goto i386 if inline int linux long mutable
  namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
  requires restrict return short signed sizeof static static_assert static_cast struct switch template this
  thread_local throw true try typedef typeid typename typeof union unix unsigned using virtual void volatile wchar_t
  while xor xor_eq`.split(/\s+/),
)

/** `CreateIoSq` as `Create_Io_Sq`, `RTD3R` as it is: an export's name in the words that a C name joins with underscores. */
function words(/** @type {string} */ name) {
  if (!/[a-z]/.test(name)) return name
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/([A-Z]+)([A-Z][a-z]{2,})/g, '$1_$2')
}

/** The name of a macro: `GPUNVME_CREATE_IO_SQ_QID_SHIFT`. */
export function macro(/** @type {string[]} */ ...parts) {
  const name = ['GPUNVME', ...parts.map(words)].join('_').toUpperCase()
  if (!/^[A-Z][A-Z0-9_]*$/.test(name)) throw new Error(`${parts.join('.')}: ${name} is no name of a macro in C`)
  return name
}

/** The name of a structure or of a member of one, in lower case. */
export function lower(/** @type {string} */ name, /** @type {string} */ owner) {
  const text = words(name).toLowerCase()
  if (!/^[a-z][a-z0-9_]*$/.test(text)) throw new Error(`${owner}: ${text} is no name in C`)
  if (taken.has(text)) throw new Error(`${owner}: ${text} is a word of C, of C++ or of their headers`)
  return text
}

/** Refuses a name that is used twice: by two declarations, or by a field of one and a value of another. */
export function uniqueNames() {
  /** @type {Map<string, string>} */
  const owners = new Map()
  return (/** @type {string} */ name, /** @type {string} */ owner) => {
    const first = owners.get(name)
    if (first !== undefined) throw new Error(`${name} in C would be both ${first} and ${owner}: rename one of them`)
    owners.set(name, owner)
    return name
  }
}

/** A number as an unsigned constant of C: 32 bits where it fits. */
export function constant(/** @type {number | bigint} */ value, bits = 32) {
  return `0x${value.toString(16)}${bits > 32 || value > 0xffff_ffff ? 'ULL' : 'u'}`
}

/** Text inside a comment of C. */
export function comment(/** @type {string} */ text) {
  if (text.includes('*/') || text.includes('/*')) throw new Error(`"${text}" ends or begins a comment in C`)
  return `/* ${text} */`
}

/** What a field's comment says of it. */
export function docOf(/** @type {{ doc: string, zeroBased?: boolean }} */ { doc, zeroBased = false }) {
  return zeroBased ? `${doc}, 0's based` : doc
}
