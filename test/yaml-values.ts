/** Values that YAML parsers are known to read differently, and arbitrary values made of them. */
import fc from 'fast-check'

export const nastyText: readonly string[] = [
  ['no', 'No', 'NO', 'on', 'off', 'y', 'n', 'Y', 'yes', 'true', 'True', 'null', 'Null', '~', '', 'NaN'],
  ['12:30', '1:20:30', '190:20:30.15', '0o7', '0777', '007', '08', '1_000', '0x1F', '0b101', '1e3', '1.5e3'],
  ['2026-01-01', '2026-01-01T00:00:00Z', '1.0', '.5', '+1', '-1', '.inf', '-.INF', '.nan', '1.', '1e400'],
  ['=', '<<', '-', '?', ':', '- a', '? a', 'a: b', 'a :b', 'a #b', '#b', '&a', '*a', '!a', '|', '>', '%a', '@a'],
  ['`a', '{a', '[a', '{}', '[]', 'a,b', 'a]', '"', "'", "it's", '---', '...', '--- a', 'a\n---\nb', '\\'],
  [' a', 'a ', '\ta', 'a\t', '\n', 'a\n', 'a\n\n', '\na', ' a\nb', 'a\n b \n', 'a\r\nb', 'a\rb', 'a\n\tb'],
  [
    'a\n  ',
    'a\n \n',
    '\u0085',
    '\u00a0',
    '\u2028',
    '\u2029',
    '\ufeff',
    '\ufeffa',
    '\ufffe',
    '\u0000',
    '\u001b',
    '\u007f',
  ],
  ['ü', '日本', '😀', 'a: 😀', '192.168.123.1ØØ', '172.17.0.0/24', '1.2.3', '1.2.3.4', '::1', 'fd00::', 'fd00::1'],
  ['10Gi', '10m', '5s', 'x'.repeat(2000), 'a: '.repeat(500), 'host:', 'host:80', 'http://a/b?c=d#e', 'k8s.io/a'],
].flat()

const text = fc.oneof(
  fc.constantFrom(...nastyText),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom(...'ab01 \n\t:#-?,[]{}&*!|>\'"%@`.~=<_/\\'.split('')) }),
)

/** Any JSON value. Numbers are those that JSON can represent, without negative zero. */
export const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'json' },
    text,
    fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    ),
    fc.constantFrom(true, false, null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      text.filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 4, noNullPrototype: true },
    ),
  ),
})).value
