/**
 * Resolves the Python packages of a lab, for all platforms, and writes them with version and hashes.
 *
 *     node --import tsx tools/lab-requirements.ts     writes data/lab/*-requirements.txt
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { deployerRequirements, kollaBuildRequirements } from '../src/lab/drive/stages/host.ts'

/** The newest release of the 2025.2 series, with the Ansible that it supports. */
const deployerPackages = ['kolla-ansible==21.3.0', 'ansible>=12,<13', 'python-openstackclient']
const kollaBuildPackages = ['kolla==21.*', 'docker']

/** The oldest Python that the stage `host` accepts. */
const PYTHON = '3.11'

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-requirements-'))
try {
  execFileSync('python3', ['-m', 'venv', folder])
  execFileSync(path.join(folder, 'bin/pip'), ['install', '-q', 'uv'])
  compile(deployerPackages, deployerRequirements)
  // Both are installed into one virtual environment.
  compile(kollaBuildPackages, kollaBuildRequirements, ['--constraints', path.join('data', deployerRequirements)])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function compile(packages: readonly string[], file: string, more: readonly string[] = []): void {
  const form = ['--universal', '--python-version', PYTHON, '--generate-hashes', '--no-annotate', '--no-header']
  const args = ['pip', 'compile', '-q', ...form, ...more, '-', '-o', path.join('data', file)]
  execFileSync(path.join(folder, 'bin/uv'), args, { input: `${packages.join('\n')}\n` })
}
