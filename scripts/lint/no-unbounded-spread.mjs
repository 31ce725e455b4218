import ts from 'typescript'

/**
 * ESLint rule: spread only values of fixed length into arguments. Each argument takes stack space, so
 * `push(...list)` or `Math.max(...list)` throws "Maximum call stack size exceeded" for a list of about 100,000.
 *
 * Accepts two kinds of values: tuples without rest elements, whose type fixes their length, and rest parameters, which are
 * already arguments.
 */
export const noUnboundedSpread = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      unbounded:
        'The length of this value is not fixed by its type, and a long one overflows the stack: use a loop, `reduce` or `flat`, or pass the array.',
    },
  },
  create(context) {
    const { program, esTreeNodeToTSNodeMap } = context.sourceCode.parserServices
    const checker = program.getTypeChecker()
    return {
      ':matches(CallExpression, NewExpression) > SpreadElement'({ argument }) {
        const node = esTreeNodeToTSNodeMap.get(argument)
        if (isRestParameter(checker, node) || isTuple(checker, checker.getTypeAtLocation(node))) return
        context.report({ node: argument, messageId: 'unbounded' })
      },
    }
  },
}

function isRestParameter(checker, node) {
  const declaration = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node)?.valueDeclaration : undefined
  return declaration !== undefined && ts.isParameter(declaration) && declaration.dotDotDotToken !== undefined
}

/** Returns whether every possible type of the value is a tuple without rest elements. */
function isTuple(checker, type) {
  const constraint = checker.getBaseConstraintOfType(type) ?? type
  if (constraint.isUnion()) return constraint.types.every((each) => isTuple(checker, each))
  return checker.isTupleType(constraint) && (constraint.target.combinedFlags & ts.ElementFlags.Variable) === 0
}
