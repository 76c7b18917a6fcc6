package org.tagmac.hadoop;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.util.EnumSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * What Hadoop's own tests need: it writes to the directory, and seals it before the next read, which
 * {@link TagmacFileSystem} does.
 */
public class SealingFileSystem extends FileSystem {
    private static final URI HERE = URI.create("tagmac://photos");

    private final RawLocalFileSystem raw = new RawLocalFileSystem();
    private Sealed sealed;
    private FileSystem reader;
    private boolean changed = true;

    @Override
    public void initialize(URI name, Configuration conf) throws IOException {
        super.initialize(HERE, conf);
        setConf(conf);
        raw.initialize(URI.create("file:///"), conf);
        sealed = new Sealed(Files.createTempDirectory("contract-"));
    }

    private synchronized FileSystem reader() throws IOException {
        if (changed) {
            changed = false;
            sealed.seal("--mtime");
            TagmacFileSystem fresh = new TagmacFileSystem();
            fresh.initialize(HERE, sealed.configuration());
            if (reader != null) {
                reader.close();
            }
            reader = fresh;
        }
        return reader;
    }

    private synchronized Path written(Path path) {
        changed = true;
        return new Path(sealed.root.toUri().toString() + makeQualified(path).toUri().getPath());
    }

    @Override
    public URI getUri() {
        return HERE;
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        return reader().open(path, bufferSize);
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        return reader().getFileStatus(path);
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
        return reader().listStatus(path);
    }

    @Override
    public FSDataOutputStream create(
            Path path,
            FsPermission permission,
            boolean overwrite,
            int bufferSize,
            short replication,
            long blockSize,
            Progressable progress)
            throws IOException {
        OutputStream out =
                raw.create(written(path), permission, overwrite, bufferSize, replication, blockSize, null);
        return new FSDataOutputStream(out, null) {
            @Override
            public void close() throws IOException {
                super.close();
                written(path);
            }
        };
    }

    @Override
    public FSDataOutputStream createNonRecursive(
            Path path,
            FsPermission permission,
            EnumSet<CreateFlag> flags,
            int bufferSize,
            short replication,
            long blockSize,
            Progressable progress)
            throws IOException {
        boolean overwrite = flags.contains(CreateFlag.OVERWRITE);
        return create(path, permission, overwrite, bufferSize, replication, blockSize, progress);
    }

    @Override
    public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
            throws IOException {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        return raw.rename(written(from), written(to));
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        return raw.delete(written(path), recursive);
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) throws IOException {
        return raw.mkdirs(written(path), permission);
    }

    @Override
    public Path getWorkingDirectory() {
        return new Path("tagmac", "photos", "/");
    }

    @Override
    public void setWorkingDirectory(Path path) {
        throw new UnsupportedOperationException();
    }
}
