/** Builds the program: one entry, split chunks, so that a command loads only what it needs. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, type BuildResult, build, type Plugin } from 'esbuild'
import { chunkPlan } from './chunk-plan.ts'

/** CommonJS dependencies inside an ESM bundle still call require. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);"

export function buildOptions(version: string): BuildOptions {
  return {
    entryPoints: { entry: 'src/cli/entry.ts' },
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: 'linked',
    minifySyntax: true,
    minifyWhitespace: true,
    // Its ES modules: what nobody uses stays out, and no function around a module is parsed twice.
    alias: { yaml: path.resolve('node_modules/yaml/browser/index.js') },
    define: { STACKLOOM_VERSION: JSON.stringify(version) },
    banner: { js: REQUIRE },
    logLevel: 'warning',
  }
}

/** Companies of small files: a command that needs one of them gets all in one chunk instead of a dozen. */
const COMPANIES = [
  // Most commands need one or another.
  /^src\/(net\/[\w-]+|yaml\/(decode|write)|data\/data|errors\/(codes|file|new-file|closest-match)|site\/findings|cli\/(command|files|new-file|questions|output\/format|output\/run\/events-option))\.ts$/,
  // Whose an address is.
  /^src\/(plan\/(address-reader|collections|conflicts|ledger|requests|findings\/addresses)|site\/(accept|site))\.ts$/,
  // A file that a person wrote.
  /^src\/(yaml\/(aliases|locate|read)|api\/(known-fields|shape))\.ts$|node_modules\/yaml\//,
  // What is wrong with a lab, and what is rendered of it.
  /^src\/errors\/lab(-kolla|-tree)?\.ts$/,
  /^src\/lab\/(certificates|gitignore|line-diff|render-into|secrets|ssh-keys|tree-[\w-]+|kolla\/(groups|passwords))\.ts$/,
]

/** Builds twice: the first time only to learn who imports whom. */
export async function buildProgram(version: string, more: BuildOptions): Promise<BuildResult> {
  const options = buildOptions(version)
  const { metafile } = await build({ ...options, write: false, metafile: true })
  const plan = chunkPlan(metafile.inputs, 'src/cli/entry.ts', COMPANIES)
  return build({ ...options, ...more, plugins: [withCompany(plan)] })
}

/** Parts that are loaded on demand come with the files that the plan names: then the bundler shares their chunks. */
function withCompany(plan: ReadonlyMap<string, readonly string[]>): Plugin {
  const namespace = 'on-demand'
  return {
    name: namespace,
    setup: (bundler) => {
      bundler.onResolve({ filter: /^\./ }, ({ kind, resolveDir, path: wanted }) => {
        const part = path.relative('', path.resolve(resolveDir, wanted))
        return kind === 'dynamic-import' && plan.has(part) ? { path: part, namespace } : undefined
      })
      bundler.onLoad({ filter: /./, namespace }, ({ path: part }) => {
        const free = plan.get(part)?.filter((file) => file.startsWith('src/')) ?? []
        const lines = [...free.map((file) => `import './${file}'`), `export * from './${part}'`]
        return { contents: lines.join('\n'), resolveDir: path.resolve() }
      })
    },
  }
}

/**
 * The bundler puts the banner into every chunk, and one of them uses it. A command loads dozens, and a require of its
 * own costs each of them time. The line stays, empty: source maps count lines.
 */
export function withoutIdleRequire(chunk: string): string {
  if (!chunk.startsWith(REQUIRE)) return chunk
  const code = chunk.slice(REQUIRE.length)
  return /\brequire\b/.test(code) ? chunk : code
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  rmSync('dist', { recursive: true, force: true })
  await buildProgram(version, {})
  // The program reads them while it runs, from the folder of its chunks.
  cpSync('data', 'dist/data', { recursive: true })
  for (const name of readdirSync('dist').filter((file) => file.endsWith('.js'))) {
    const file = path.join('dist', name)
    writeFileSync(file, withoutIdleRequire(readFileSync(file, 'utf8')))
  }
}
