// What the tables in tables/ consist of: for each enumeration and structure of somebody else's header, what it is here.

/** Why names of theirs are not ours: the reason, and the names, a `*` standing for any end. */
export type Absent = Readonly<Record<string, readonly string[]>>

/** What the numbers of an enumeration, or those whose names begin alike, are in our header. */
export interface Numbers {
  /** What all of theirs begin with, and what stands there in ours, after GPUNVME_. */
  readonly theirs: string
  readonly ours: string
  /**
   * `number`: X is our number X. `mask`: X is our X_MASK. `word`: X_SHIFT is our X_SHIFT, X_MASK is our X_MASK before it
   * is shifted, and what ends otherwise is a number.
   */
  readonly as: 'number' | 'mask' | 'word'
  /**
   * Where the rest of the name differs: theirs without what it begins with (and without _SHIFT, _MASK), and ours; several
   * names of ours with spaces between them.
   */
  readonly names?: Readonly<Record<string, string>>
  /**
   * Where it takes more than another name: the rest of theirs, and an expression of C without GPUNVME_, in which
   * ONES(FIELD) is a mask before it is shifted, AT(struct, member) an offset in bytes, BITS(struct, member) a width, SIZE(struct) a
   * size in bytes; or several expressions.
   */
  readonly pairs?: Readonly<Record<string, string | readonly string[]>>
  /** Other names of ours, after GPUNVME_, for the same where they are declared; `*` is the rest of our name. */
  readonly also?: readonly string[]
  readonly absent?: Absent
}

/** What a structure is in our header. */
export interface Struct {
  /** The tag without gpunvme_. */
  readonly ours: string
  /**
   * What a member is in ours where it has another name: `member`; `struct.member` of another structure; `first-last`,
   * several; `@member`, which begins there but has another length; `member:ROW`, the byte of a member that a row begins
   * in, `:ROW` counted from the row's own word; `FIELD`, in upper case, of a command; `.end` or `struct.end`, where a structure ends. Several with
   * spaces between them.
   */
  readonly names?: Readonly<Record<string, string>>
  /** Members that are not ours; `sizeof` where the sizes cannot be compared. */
  readonly absent?: Absent
}

/** What a structure is here: one or several of ours, or none for a reason. */
export type Structs = Struct | readonly Struct[] | string

/** A table: what is where, or why it is not; by the name of an enumeration or what names begin with, and by structure. */
export interface Table {
  readonly numbers: Readonly<Record<string, Numbers | string>>
  readonly structs: Readonly<Record<string, Structs>>
}

/** A fact in which a header and ours are known to differ: both values, and who is right by what source. */
export interface Difference {
  readonly theirs: number
  readonly ours: number
  readonly why: string
}
