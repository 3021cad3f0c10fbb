import ts from 'typescript';
import { NEARNESS, SITES } from './counters.mjs';

const { factory } = ts;
const COUNTERS = import.meta.resolve('./counters.mjs');
const COMPARISONS = ['===', '!==', '<', '>', '<=', '>='];
const SHORT_CIRCUITS = ['&&', '||', '??'];

/** A module that reports to counters.mjs which branches it took and how near its comparisons were. */
export function instrument(code) {
  let sites = 0;
  function siteOf(size) {
    sites += size;
    return factory.createNumericLiteral(sites - size);
  }
  const call = (name, ...args) => factory.createCallExpression(factory.createIdentifier(name), undefined, args);
  const hit = () => call('$hit', siteOf(1));
  const counted = (expression) => factory.createParenthesizedExpression(factory.createComma(hit(), expression));
  const block = (...statements) => factory.createBlock([factory.createExpressionStatement(hit()), ...statements], true);
  const toBlock = (statement) => (ts.isBlock(statement) ? statement : block(statement));

  function branch(node) {
    if (ts.isBlock(node)) return block(...node.statements);
    if (ts.isIfStatement(node)) {
      const otherwise = node.elseStatement ? toBlock(node.elseStatement) : block();
      return factory.updateIfStatement(node, node.expression, toBlock(node.thenStatement), otherwise);
    }
    if (ts.isConditionalExpression(node)) {
      const { condition, questionToken, whenTrue, colonToken, whenFalse } = node;
      const [yes, no] = [counted(whenTrue), counted(whenFalse)];
      return factory.updateConditionalExpression(node, condition, questionToken, yes, colonToken, no);
    }
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) {
      const body = counted(node.body);
      return factory.createArrowFunction(node.modifiers, undefined, node.parameters, undefined, undefined, body);
    }
    if (!ts.isBinaryExpression(node)) return node;
    const { left, operatorToken, right } = node;
    const operator = ts.tokenToString(operatorToken.kind);
    if (COMPARISONS.includes(operator)) {
      return call('$compare', siteOf(NEARNESS), factory.createStringLiteral(operator), left, right);
    }
    return SHORT_CIRCUITS.includes(operator)
      ? factory.createBinaryExpression(left, operatorToken, counted(right))
      : node;
  }

  const transformer = (context) => {
    const visit = (node) => branch(ts.visitEachChild(node, visit, context));
    return visit;
  };
  const file = ts.createSourceFile('module.mjs', code, ts.ScriptTarget.ESNext, false, ts.ScriptKind.JS);
  const { transformed } = ts.transform(file, [transformer]);
  if (sites > SITES) throw new Error(`${sites} sites, more than counters.mjs has`);
  const imports = `import { compare as $compare, hit as $hit } from '${COUNTERS}';\n`;
  return imports + ts.createPrinter().printFile(transformed[0]);
}
