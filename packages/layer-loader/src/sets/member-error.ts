import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'

/** What could not be done to a member. */
export type MemberVerb = 'read' | 'write' | 'flush'

/** A member, as messages call it. */
export interface NamedMember {
  readonly index: number
  readonly name: string
}

export function memberName({ index, name }: NamedMember): string {
  return `member ${index} (${name})`
}

/** A member of a set did not do its part, and nobody else can do it. What the member threw is the cause. */
export class SetMemberError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SET_MEMBER'
  readonly category: ErrorCategory
  /** Index of the member. */
  readonly member: number
  declare readonly cause: GpuNvmeError

  constructor(set: string, verb: MemberVerb, member: NamedMember, cause: GpuNvmeError, next: string) {
    super(`${set}: ${memberName(member)} failed to ${verb}`, { facts: [cause.headline], next, cause })
    this.category = cause.category
    this.member = member.index
  }
}

/** The error behind that of a member, of members of members too; any other error as it is. */
export function behindMember(error: unknown): unknown {
  return error instanceof SetMemberError ? behindMember(error.cause) : error
}
