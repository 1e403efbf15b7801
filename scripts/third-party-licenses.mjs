import { readFileSync, readdirSync } from 'node:fs';
import { at } from './project.mjs';

/** The licenses of the packages that a bundle was made of, each text once. */
export function thirdPartyLicenses(inputs) {
  const folders = new Set(inputs.map((input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]));
  folders.delete(undefined);
  const byText = new Map();
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(readFileSync(at(folder, 'package.json'), 'utf8'));
    const file = readdirSync(at(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? license : readFileSync(at(folder, file), 'utf8').trim();
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  return [...byText].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`).join(`\n${'-'.repeat(80)}\n\n`);
}
