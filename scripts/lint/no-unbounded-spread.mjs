/**
 * Lint rule: spread only values of fixed length into arguments. Each argument takes stack space, so `push(...list)` or
 * `Math.max(...list)` throws "Maximum call stack size exceeded" for a list of about 100,000.
 *
 * Accepts two kinds of values: array literals, whose length the source shows, and rest parameters, which are already
 * arguments.
 */
const noUnboundedSpread = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      unbounded:
        'The length of this value is not fixed, and a long one overflows the stack: use a loop, `reduce` or `flat`, or pass the array.',
    },
  },
  create(context) {
    const { sourceCode } = context
    return {
      ':matches(CallExpression, NewExpression) > SpreadElement'({ argument }) {
        if (isArrayLiteral(argument) || isRestParameter(sourceCode.getScope(argument), argument)) return
        context.report({ node: argument, messageId: 'unbounded' })
      },
    }
  },
}

export default { meta: { name: 'gpunvme' }, rules: { 'no-unbounded-spread': noUnboundedSpread } }

function isArrayLiteral(node) {
  return node.type === 'ArrayExpression' && node.elements.every((each) => each?.type !== 'SpreadElement')
}

/** Returns whether an identifier names a rest parameter itself, not an element of one by destructuring. */
function isRestParameter(scope, node) {
  if (node.type !== 'Identifier') return false
  for (let each = scope; each !== null; each = each.upper) {
    const variable = each.set.get(node.name)
    if (variable !== undefined)
      return variable.defs.some(
        ({ type, name: { parent } }) =>
          type === 'Parameter' && parent.type === 'RestElement' && parent.parent.type !== 'ArrayPattern',
      )
  }
  return false
}
