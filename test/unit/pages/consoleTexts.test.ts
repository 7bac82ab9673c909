// All texts of the console are in its catalogue, console/texts/; components contain none.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const folder = join(import.meta.dirname, '..', '..', '..', 'console');
const spoken = ['aria-label', 'alt', 'hint', 'label', 'lead', 'placeholder', 'title'];

function textsIn(name: string, content: string): string[] {
  const source = ts.createSourceFile(name, content, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node) && /\p{L}{2}/u.test(node.text)) found.push(`${name}: ${node.text.trim()}`);
    const isSpoken = ts.isJsxAttribute(node) && spoken.includes(node.name.getText());
    const value = isSpoken ? node.initializer : undefined;
    if (value && ts.isStringLiteral(value) && /\p{L}{2}/u.test(value.text)) found.push(`${name}: ${value.text}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

it('finds a text between tags and in an attribute for screen readers', () => {
  expect(textsIn('x.tsx', '<p title="Hello">Good day <b className="plain">{texts.x}</b></p>')).toEqual([
    'x.tsx: Hello',
    'x.tsx: Good day',
  ]);
});

it('no component has a text of its own', () => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tsx'));
  expect(names.length).toBeGreaterThan(10);
  expect(names.flatMap((name) => textsIn(name, readFileSync(join(folder, name), 'utf8')))).toEqual([]);
});
