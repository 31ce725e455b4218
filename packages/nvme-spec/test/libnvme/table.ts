// Types of the tables in tables/, which map each enumeration and structure of another header to nvme_spec.h. In these
// types, `theirs` is the other header, and `ours` is nvme_spec.h.

/** Names of the other header without a counterpart, by reason; `*` matches any suffix. */
export type Absent = Readonly<Record<string, readonly string[]>>

/** Maps the numbers of an enumeration, or those with a common prefix, to nvme_spec.h. */
export interface Numbers {
  /** Prefix of the names in the other header, and the prefix that replaces it, after GPUNVME_. */
  readonly theirs: string
  readonly ours: string
  /**
   * Rule for a name X. `number`: X is the number X. `mask`: X is X_MASK. `word`: X_SHIFT is X_SHIFT, X_MASK is X_MASK
   * shifted to bit 0, and other names are numbers.
   */
  readonly as: 'number' | 'mask' | 'word'
  /**
   * Names that differ after the prefix: name in the other header (without prefix, _SHIFT and _MASK), and one or several
   * names of nvme_spec.h, separated by spaces.
   */
  readonly names?: Readonly<Record<string, string>>
  /**
   * Names that correspond to an expression: name without prefix, and one or several C expressions without GPUNVME_.
   * ONES(FIELD) is a mask shifted to bit 0, AT(struct, member) an offset in bytes, BITS(struct, member) a width in
   * bits, SIZE(struct) a size in bytes.
   */
  readonly pairs?: Readonly<Record<string, string | readonly string[]>>
  /** Further names of nvme_spec.h with the same value, after GPUNVME_, if declared; `*` is the name without prefix. */
  readonly also?: readonly string[]
  readonly absent?: Absent
}

/** Maps a structure to one of nvme_spec.h. */
export interface Struct {
  /** Tag without gpunvme_. */
  readonly ours: string
  /**
   * Members with another name in nvme_spec.h, mapped to one or several of these, separated by spaces: `member`;
   * `struct.member` of another structure; `first-last` for a range of members; `@member` for a member with the same
   * start but another length; `member:ROW` for the byte of a member in which a row begins, `:ROW` relative to the word
   * of the row; `FIELD` of a command, in upper case; `.end` or `struct.end` for the end of a structure.
   */
  readonly names?: Readonly<Record<string, string>>
  /** Members without a counterpart; `sizeof` if the sizes cannot be compared. */
  readonly absent?: Absent
}

/** One or several corresponding structures, or the reason why there is none. */
export type Structs = Struct | readonly Struct[] | string

/** Mappings or reasons, by name of an enumeration or prefix of its names, and by structure. */
export interface Table {
  readonly numbers: Readonly<Record<string, Numbers | string>>
  readonly structs: Readonly<Record<string, Structs>>
}

/** A known difference between the headers: both values, and the source that confirms one of them. */
export interface Difference {
  readonly theirs: number
  readonly ours: number
  readonly why: string
}
