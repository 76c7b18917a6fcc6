package org.tagmac.hadoop;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.tagmac.Content;
import org.tagmac.DamagedFileException;
import org.tagmac.KeyRef;
import org.tagmac.Manifest;

/**
 * A sealed directory or bucket in any file system of Hadoop. It is read-only, and every byte is
 * verified before a program gets it. Names, sizes and listings come from the manifest only.
 *
 * <p>{@code tagmac://NAME/2026/x.parquet} is the file {@code 2026/x.parquet} of what the
 * configuration describes as NAME:
 *
 * <ul>
 *   <li>{@code fs.tagmac.NAME.root} is the sealed directory or prefix, such as {@code s3a://photos};
 *   <li>{@code fs.tagmac.NAME.manifest} is its manifest;
 *   <li>{@code fs.tagmac.NAME.key} is a reference to the key, for {@link KeyRef#parse}.
 * </ul>
 *
 * <p>A sealed file that the store does not have, or whose bytes differ, is a {@link
 * DamagedFileException}. Only an entry that the manifest does not have is a {@link
 * FileNotFoundException}.
 */
public class TagmacFileSystem extends FileSystem {
    /** The scheme. */
    public static final String SCHEME = "tagmac";

    private URI uri;
    private Path workingDirectory;
    private FileSystem store;
    private Path root;
    private volatile ManifestFiles files;

    @Override
    public String getScheme() {
        return SCHEME;
    }

    @Override
    public URI getUri() {
        return uri;
    }

    @Override
    public void initialize(URI name, Configuration conf) throws IOException {
        String authority = name.getAuthority();
        if (authority == null || !authority.matches("[a-z0-9][a-z0-9._-]*")) {
            throw new IOException(
                    name + ": expected tagmac://NAME/PATH, where NAME has lower-case letters, digits,"
                            + " '-', '_' and '.'");
        }
        super.initialize(name, conf);
        setConf(conf);
        uri = URI.create(SCHEME + "://" + authority);
        workingDirectory = new Path(SCHEME, authority, "/");
        root = new Path(option(conf, authority, "root"));
        store = root.getFileSystem(conf);
        root = store.makeQualified(root);
        if (store instanceof LocalFileSystem local) {
            // Its checksums detect less than tags do.
            store = local.getRawFileSystem();
        }
        KeyRef key;
        try {
            key = KeyRef.parse(option(conf, authority, "key"));
        } catch (IllegalArgumentException e) {
            throw new IOException("fs.tagmac." + authority + ".key: " + e.getMessage(), e);
        }
        files = ManifestFiles.open(new Path(option(conf, authority, "manifest")), key, conf);
    }

    private static String option(Configuration conf, String name, String what) throws IOException {
        String key = "fs.tagmac." + name + "." + what;
        String value = conf.getTrimmed(key, "");
        if (value.isEmpty()) {
            throw new IOException("expected the option " + key + " in the configuration");
        }
        return value;
    }

    private Manifest manifest() throws IOException {
        ManifestFiles opened = files;
        if (opened == null) {
            throw new IOException(uri + ": the file system is closed");
        }
        return opened.manifest();
    }

    /** Returns the path in the manifest; an empty one for the root. */
    private String relative(Path path) {
        checkPath(path);
        return makeQualified(path).toUri().getPath().substring(1);
    }

    private Path shown(String name) {
        return new Path(SCHEME, uri.getAuthority(), "/" + name);
    }

    /** Returns the path in the store. */
    private Path stored(String name) throws IOException {
        for (String part : name.split("/", -1)) {
            // Objects may have such names.
            if (part.isEmpty() || part.equals(".") || part.equals("..")) {
                throw new IOException(shown(name) + ": no file can have this name");
            }
        }
        URI at = root.toUri();
        String prefix = at.getPath().equals("/") ? "" : at.getPath();
        return new Path(at.getScheme(), at.getAuthority(), prefix + "/" + name);
    }

    private Manifest.Entry entry(Path path, String name) throws IOException {
        try {
            return manifest().entry(name);
        } catch (FileNotFoundException e) {
            throw missing(path);
        }
    }

    private static FileNotFoundException missing(Path path) {
        return new FileNotFoundException(path + ": the manifest has no such file or directory");
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        String name = relative(path);
        Manifest.Kind kind = name.isEmpty() ? Manifest.Kind.DIR : entry(path, name).kind();
        if (kind == Manifest.Kind.DIR) {
            throw new FileNotFoundException(path + ": is a directory");
        }
        if (kind != Manifest.Kind.FILE) {
            throw new IOException(path + ": expected a file, found a " + kind);
        }
        Content content = content(path, name);
        try {
            FSDataInputStream in = store.open(stored(name), bufferSize);
            return new FSDataInputStream(new VerifiedInputStream(in, content, path.toString()));
        } catch (FileNotFoundException e) {
            content.close();
            DamagedFileException damaged =
                    new DamagedFileException(path + ": the store does not have this sealed file");
            damaged.initCause(e);
            throw damaged;
        } catch (Throwable e) {
            content.close();
            throw e;
        }
    }

    private Content content(Path path, String name) throws IOException {
        try {
            return manifest().content(name);
        } catch (IllegalArgumentException e) {
            throw new IOException(path + ": " + e.getMessage(), e);
        }
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        String name = relative(path);
        if (name.isEmpty()) {
            manifest();
            return status(shown(""), 0, true, -1, time(null), null);
        }
        return status(entry(path, name));
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
        String name = relative(path);
        if (!name.isEmpty()) {
            Manifest.Entry entry = entry(path, name);
            if (entry.kind() != Manifest.Kind.DIR) {
                return new FileStatus[] {status(entry)};
            }
        }
        List<Manifest.Entry> entries = manifest().list(name);
        FileStatus[] found = new FileStatus[entries.size()];
        for (int i = 0; i < found.length; i++) {
            found[i] = status(entries.get(i));
        }
        return found;
    }

    private FileStatus status(Manifest.Entry entry) throws IOException {
        boolean isDirectory = entry.kind() == Manifest.Kind.DIR;
        long time = time(entry.mtime().orElse(null));
        Path path = shown(entry.path());
        Path target = entry.target().map(text -> link(text, path)).orElse(null);
        return status(path, Math.max(0, entry.size()), isDirectory, entry.mode(), time, target);
    }

    private FileStatus status(
            Path path, long size, boolean isDirectory, int mode, long time, Path target) {
        int permissions = mode >= 0 ? mode & 0777 : isDirectory ? 0555 : 0444;
        long block = isDirectory ? 0 : store.getDefaultBlockSize(root);
        FsPermission permission = new FsPermission((short) permissions);
        return new FileStatus(
                size, isDirectory, 1, block, time, 0, permission, "", "", target, path);
    }

    /** Links are listed and not followed. A target need not be a path of Hadoop. */
    private static Path link(String target, Path path) {
        try {
            return new Path(target);
        } catch (IllegalArgumentException e) {
            return path;
        }
    }

    /** Returns a modification time in milliseconds: the sealed one, or the day of the seal. */
    private long time(Instant sealed) throws IOException {
        if (sealed != null) {
            return sealed.toEpochMilli();
        }
        LocalDate day = manifest().day().orElse(LocalDate.EPOCH);
        return day.atStartOfDay().toInstant(ZoneOffset.UTC).toEpochMilli();
    }

    @Override
    public long getDefaultBlockSize(Path path) {
        return store.getDefaultBlockSize(root);
    }

    @Override
    public Path getWorkingDirectory() {
        return workingDirectory;
    }

    @Override
    public void setWorkingDirectory(Path path) {
        workingDirectory = makeQualified(path);
    }

    /** Closes the manifest. Open streams stay valid. */
    @Override
    public void close() throws IOException {
        try {
            super.close();
        } finally {
            ManifestFiles opened = files;
            files = null;
            if (opened != null) {
                opened.close();
            }
        }
    }

    private static IOException readOnly(Path path) {
        return new IOException(path + ": the file system is read-only");
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
        throw readOnly(path);
    }

    @Override
    public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
            throws IOException {
        throw readOnly(path);
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        throw readOnly(from);
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        throw readOnly(path);
    }

    @Override
    public boolean mkdirs(Path path, FsPermission permission) throws IOException {
        throw readOnly(path);
    }

    @Override
    public boolean setReplication(Path path, short replication) throws IOException {
        throw readOnly(path);
    }

    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
        throw readOnly(path);
    }

    @Override
    public void setOwner(Path path, String user, String group) throws IOException {
        throw readOnly(path);
    }

    @Override
    public void setTimes(Path path, long modified, long accessed) throws IOException {
        throw readOnly(path);
    }
}
