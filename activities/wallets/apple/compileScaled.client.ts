// Compiles a template whose pictures have all scales.
import { type CompiledTemplate, compileTemplate } from './passPackage.view.js';
import type { PassIdentity, TemplatedProgram } from './templateCheck.rules.js';

/** Rejects with PassTemplateError. */
export async function compileScaled(identity: PassIdentity, program: TemplatedProgram): Promise<CompiledTemplate> {
  const { passTemplate } = program;
  const images = passTemplate?.images;
  if (!images || Object.keys(images).length === 0) return compileTemplate(identity, program);
  // Imported on demand, because its library is large.
  const { scaleImages } = await import('./scaleImages.client.js');
  return compileTemplate(identity, {
    ...program,
    passTemplate: { ...passTemplate, images: await scaleImages(images) },
  });
}
