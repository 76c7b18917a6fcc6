package org.tagmac.hadoop;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.tagmac.KeyRef;
import org.tagmac.Manifest;

/**
 * An open manifest, and the copy of its files if it is not on this machine. The copy needs no trust:
 * the manifest has a seal, and leaf tags verify only the leaves that were sealed.
 */
final class ManifestFiles {
    private final Manifest manifest;
    private final File copy;

    private ManifestFiles(Manifest manifest, File copy) {
        this.manifest = manifest;
        this.copy = copy;
    }

    static ManifestFiles open(Path path, KeyRef key, Configuration conf) throws IOException {
        FileSystem fs = path.getFileSystem(conf);
        Path full = fs.makeQualified(path);
        if (fs instanceof LocalFileSystem || fs instanceof RawLocalFileSystem) {
            return new ManifestFiles(manifest(new File(full.toUri().getPath()), key), null);
        }
        // Mode 0700 from the start.
        File folder = Files.createTempDirectory("tagmac-").toFile();
        Manifest manifest = null;
        try {
            File file = new File(folder, "manifest");
            copy(fs, full, file);
            manifest = manifest(file, key);
            // The file of leaf tags that belongs to the manifest of a directory.
            Path tags = full.suffix("." + manifest.sequence() + ".leaves");
            if (file.isFile() && fs.exists(tags)) {
                copy(fs, tags, new File(folder, "manifest." + manifest.sequence() + ".leaves"));
            }
            return new ManifestFiles(manifest, folder);
        } catch (Throwable e) {
            if (manifest != null) {
                manifest.close();
            }
            FileUtil.fullyDelete(folder);
            throw e;
        }
    }

    private static void copy(FileSystem fs, Path from, File to) throws IOException {
        fs.copyToLocalFile(false, from, new Path(to.toURI()), true);
    }

    private static Manifest manifest(File file, KeyRef key) throws IOException {
        try {
            return Manifest.open(file.toPath(), key.resolve());
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    Manifest manifest() {
        return manifest;
    }

    void close() {
        manifest.close();
        if (copy != null) {
            FileUtil.fullyDelete(copy);
        }
    }
}
